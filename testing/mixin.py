"""The mixin that gives a test class one test for each model class, backend and variant."""

from __future__ import annotations

import inspect
import sys
import unittest
from collections.abc import Callable, Iterator
from itertools import groupby
from types import FrameType
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from parameterized import param, parameterized

from exporters import BACKENDS, get_backend
from exporters.base import Backend
from testing.auto_classes import TransformersMissingError, UnknownModelTypeError
from testing.cases import ExportCase
from testing.model_classes import (
    ModelClass,
    declared_classes,
    generative_classes,
    unknown_class,
)
from testing.reports.wording import explanation, rerun_command, skip_text
from testing.results import CaseResult, Outcome
from testing.session import SESSION, Planned, Session, TestMethod, default_session
from testing.timeouts import timeout_of

if TYPE_CHECKING:
    from testing.subject import Subject

    _TestCase = unittest.TestCase
else:
    _TestCase = object

__all__ = ["ExportGenerateTesterMixin", "ExportTesterMixin", "export_case_of", "waiver_of"]

_CASE = "export_case"
"""Attribute of a generated test: its case, None where the classes cannot be told."""
_WITHOUT_CLASSES = "test_export"
"""The one test of a class whose model classes cannot be told."""


class _ExportTests(_TestCase):
    """What every mixin of exports is: tests made where a class is defined, cases run by a session.

    Attributes:
        all_model_classes: Classes or names of classes; where it is None, those of `model_type`,
            else those that `model_tester_class` holds.
        model_type: transformers' model type, such as ``bert``.
        model_tester_class: A tester in the shape of transformers' ``CausalLMModelTester``.
        test_torch_exportable: False skips every export of this test class.
        export_seed: Seed of weights and inputs; an audit of skips tries several.
    """

    all_model_classes: Any = None
    model_type: ClassVar[str | None] = None
    model_tester_class: Any = None
    test_torch_exportable: ClassVar[bool] = True
    export_seed: int = 0

    def __init_subclass__(cls, **values: Any) -> None:
        super().__init_subclass__(**values)
        if issubclass(cls, unittest.TestCase) and cls.run is unittest.TestCase.run:
            mixin = next(base.__name__ for base in _MIXINS if issubclass(cls, base))
            raise TypeError(f"{cls.__qualname__}: {mixin} stands before unittest.TestCase")
        if cls.__module__ != __name__:
            _generate_tests(cls)

    def run(self, result: unittest.TestResult | None = None) -> unittest.TestResult | None:
        """Run the test; an export leaves ``setUp`` and ``tearDown`` to the process it runs in."""
        if hasattr(getattr(type(self), self._testMethodName, None), _CASE):
            self._export_result = result
            self.setUp = self.tearDown = _nothing  # type: ignore[method-assign]
        return super().run(result)

    def subject(self, model_class: str) -> Subject:
        """The model and the inputs of one class; called after ``setUp``.

        A tester that ``setUp`` has put at ``self.model_tester`` gives them, else the harness's
        own tiny models do.
        """
        if getattr(self, "model_tester", None) is not None:
            from testing.tester_subject import subject_of_tester

            return subject_of_tester(self, _class_called(self, model_class))
        from testing.tiny import ImpossibleModelError, MissingPackageError, build

        try:
            return build(model_class, seed=self.export_seed)
        except (ImpossibleModelError, MissingPackageError) as error:
            # No finding about a backend, and `coverage` lists them all.
            self.skipTest(str(error))

    def subject_of(self, case: ExportCase) -> Subject:
        """The subject of a case, which may take another one to generate with."""
        return self.subject(case.model_class)

    def _export(self, case: ExportCase) -> None:
        """Run one case and raise what tells unittest how it ended."""
        __tracebackhide__ = True
        # pytest passes the item itself as unittest's result.
        result = getattr(self, "_export_result", None)
        item = result if isinstance(result, pytest.Item) else None
        session = _session(item)
        ended = session.result_of(_planned(self, case, item))
        # pytest before 9 has no subtests; the row that sums them up tells of them all.
        for part in ended.components if hasattr(result, "addSubTest") else ():
            with self.subTest(component=part.component):
                _raise_outcome(part, session, is_pytest=item is not None)
        _raise_outcome(ended, session, is_pytest=item is not None)


class ExportTesterMixin(_ExportTests):
    """Exports every model class of a test class with every backend and compares with eager.

    It stands before ``unittest.TestCase`` among the bases, also in transformers' own test
    classes. ``setUp`` and ``tearDown`` run around the export, in the process where that happens.

    A test class that names no model class, itself or through its bases, has one failing
    ``test_export`` that says so. Two things are bases for others and not empty by mistake: what is
    no ``unittest.TestCase`` has no test, and what other test classes derive from is skipped; that
    is asked when it runs, after collection has defined them all. So is what says
    ``test_torch_exportable = False``.
    """


class ExportGenerateTesterMixin(_ExportTests):
    """Exports the steps of generation, and drives them greedily against ``model.generate``.

    It stands where `ExportTesterMixin` may, and beside it. A test class may have
    ``prepare_config_and_inputs_for_generate()``, itself or on its ``model_tester``, as
    transformers' ``GenerationTesterMixin`` has: a configuration, and keyword inputs of `generate`.

    Attributes:
        all_generative_model_classes: Classes or names of classes; by default those of the other
            model classes that generate.
    """

    all_generative_model_classes: Any = None

    def subject_of(self, case: ExportCase) -> Subject:
        """For generation that of the test's own configuration and inputs, where it has them."""
        if not case.generate:
            return super().subject_of(case)
        from testing.tester_subject import generation_of, subject_to_generate

        prepare = generation_of(self)
        if prepare is None:
            return self.subject(case.model_class)
        return subject_to_generate(self, prepare, _class_called(self, case.model_class))


_MIXINS = (ExportTesterMixin, ExportGenerateTesterMixin)


def export_case_of(test: object) -> ExportCase | None:
    """The case of a pytest item or of a test instance; None where it is no export."""
    if isinstance(test, unittest.TestCase):
        function = getattr(type(test), test._testMethodName, None)
    else:
        function = getattr(test, "obj", None)
    case = getattr(function, _CASE, None)
    return case if isinstance(case, ExportCase) else None


def _generate_tests(cls: type[_ExportTests]) -> None:
    tests: dict[str, Any] = {}
    try:
        cases = tuple(_cases(cls))
        for backend, theirs in groupby(cases, key=lambda case: case.backend):
            tests |= _tests_of(get_backend(backend), tuple(theirs))
    except TransformersMissingError as error:
        tests[_WITHOUT_CLASSES] = _skipping(str(error))
    except UnknownModelTypeError as error:
        tests[_WITHOUT_CLASSES] = _failing(str(error))
    else:
        if not _named(cls) and issubclass(cls, unittest.TestCase):
            tests[_WITHOUT_CLASSES] = _naming_nothing()
    place = _place(cls)
    for name, test in tests.items():
        if _is_free(cls, name):
            test.place_as = place
            setattr(cls, name, test)
    # A subclass that names fewer classes does not run its parent's others.
    for name in [name for name in _inherited(cls) if name not in tests]:
        setattr(cls, name, None)


def _cases(cls: type[_ExportTests]) -> Iterator[ExportCase]:
    """The cases of a test class, backend by backend."""
    for backend in map(get_backend, BACKENDS):
        for generate, classes in _classes(cls):
            for model in classes:
                for variant in backend.variants:
                    if variant.generate is generate:
                        yield ExportCase.of(model.name, model.model_type, backend, variant)


def _classes(cls: type) -> Iterator[tuple[bool, tuple[ModelClass, ...]]]:
    """The model classes of each of the mixins of a test class, and whether it generates."""
    if issubclass(cls, ExportTesterMixin):
        yield False, declared_classes(cls)
    if issubclass(cls, ExportGenerateTesterMixin):
        yield True, generative_classes(cls)


def _named(cls: type) -> list[ModelClass]:
    return [model for _, classes in _classes(cls) for model in classes]


def _tests_of(backend: Backend, cases: tuple[ExportCase, ...]) -> dict[str, Any]:
    tests: dict[str, Any] = {}
    expand = parameterized.expand(
        [param(case) for case in cases],
        name_func=lambda function, number, p: p.args[0].test_name(backend.test_prefix),
        doc_func=lambda function, number, p: None,
        namespace=tests,
        skip_on_empty=True,
    )
    expand(_template())
    for case in cases:
        test = tests[case.test_name(backend.test_prefix)]
        setattr(test, _CASE, case)
        pytest.mark.slow(getattr(pytest.mark, f"{backend.test_prefix}_export_test")(test))
        if case.generate:
            pytest.mark.generate(test)
    return tests


def _template() -> Callable[[_ExportTests, ExportCase], None]:
    """A function to expand; a new one each time, since `expand` marks it as no test."""

    def test(self: _ExportTests, case: ExportCase) -> None:
        __tracebackhide__ = True
        self._export(case)

    return test


def _skipping(reason: str) -> Callable[..., None]:
    def test(self: unittest.TestCase) -> None:
        self.skipTest(reason)

    setattr(test, _CASE, None)
    return test


def _failing(reason: str) -> Callable[..., None]:
    def test(self: unittest.TestCase) -> None:
        pytest.fail(reason, pytrace=False)

    setattr(test, _CASE, None)
    return test


def _naming_nothing() -> Callable[..., None]:
    def test(self: unittest.TestCase) -> None:
        cls = type(self)
        reason = _reason_to_name_nothing(cls)
        if reason:
            self.skipTest(reason)
        pytest.fail(
            f"{cls.__qualname__} names no model class, so that it exports nothing: set model_type "
            "or all_model_classes. A base that only others fill in leaves unittest.TestCase to "
            "them.",
            pytrace=False,
        )

    setattr(test, _CASE, None)
    return test


def _reason_to_name_nothing(cls: type) -> str | None:
    """Why a test class is right to name no model class; None where it is a mistake."""
    heirs: list[type] = cls.__subclasses__()
    if heirs:
        heir = heirs[0].__qualname__
        return f"a base that names no model class; its subclasses do, such as {heir}"
    return waiver_of(cls)


def _is_free(cls: type, name: str) -> bool:
    """Whether a generated test may take a name: a test written by hand keeps it."""
    written = inspect.getattr_static(cls, name, None)
    return written is None or hasattr(written, _CASE)


def _inherited(cls: type) -> list[str]:
    # Not over dir(cls): asking for each of unittest's own names takes longer than all the rest.
    made = {n: None for base in cls.__mro__ for n, v in vars(base).items() if hasattr(v, _CASE)}
    return [name for name in made if hasattr(inspect.getattr_static(cls, name), _CASE)]


def _place(cls: type) -> Callable[..., None]:
    """A function that seems to stand where the test class does, for reports and editors."""

    def place() -> None: ...

    frame = _frame_of(cls.__module__)
    if frame is not None:
        place.__code__ = place.__code__.replace(
            co_filename=frame.f_code.co_filename, co_firstlineno=frame.f_lineno
        )
    return place


def _frame_of(module: str) -> FrameType | None:
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_globals.get("__name__") != module:
        frame = frame.f_back
    return frame


def _nothing() -> None:
    """Stands in for ``setUp`` and ``tearDown`` where the case does not run."""


def _session(item: pytest.Item | None) -> Session:
    found = item.config.stash.get(SESSION, None) if item else None
    return found or default_session()


def _planned(test: _ExportTests, case: ExportCase, item: pytest.Item | None) -> Planned:
    cls = type(test)
    return Planned(
        case=case,
        case_id=item.nodeid if item else test.id(),
        test=TestMethod(
            module=cls.__module__,
            path=inspect.getfile(cls),
            test_class=cls.__qualname__,
            test_method=test._testMethodName,
        ),
        timeout=timeout_of(item),
        refusal=_refusal(test, case),
        waiver=waiver_of(cls),
    )


def _refusal(test: _ExportTests, case: ExportCase) -> str | None:
    """Why a class cannot be had: it is only a name, and not one of transformers'."""
    cls = type(test)
    is_own = cls.subject is not _ExportTests.subject
    given = next((c.type for c in _named(cls) if c.name == case.model_class), None)
    if is_own or given is not None:
        return None
    try:
        return unknown_class(case.model_class)
    except TransformersMissingError:
        return None  # the backend says what to install


def waiver_of(cls: type) -> str | None:
    """Why a test class says that its models cannot be exported; None where it does not."""
    for base in cls.__mro__:
        if "test_torch_exportable" in vars(base):
            # ModelTesterMixin of transformers 4.57 has False as a default and not as a finding.
            is_said = vars(base)["test_torch_exportable"] is False
            is_default = base.__name__ == "ModelTesterMixin"
            name = f"{base.__qualname__}.test_torch_exportable"
            return f"{name} = False" if is_said and not is_default else None
    return None


def _class_called(test: _ExportTests, name: str) -> type:
    held = [model.type for model in _named(type(test)) if model.name == name]
    held += [cls for cls in test.all_model_classes or () if getattr(cls, "__name__", "") == name]
    found = next((cls for cls in held if cls is not None), None)
    if found is not None:
        return found
    import transformers

    named: type = getattr(transformers, name)
    return named


def _raise_outcome(result: CaseResult, session: Session, *, is_pytest: bool) -> None:
    """Tell unittest, or pytest through it, how a case ended; a pass is silence."""
    __tracebackhide__ = True
    if result.outcome is Outcome.PASSED:
        return
    if result.outcome is Outcome.XPASSED and not session.settings.strict_skips:
        session.tolerated[result.case_id] = skip_text(result)
        return
    if result.outcome.is_failure:
        rerun = rerun_command(result.case_id, session.settings)
        message = explanation(result, rerun, _place_of_entry(result, session))
        if is_pytest:
            pytest.fail(message, pytrace=False)
        raise AssertionError(message)
    if result.outcome is Outcome.XFAILED and is_pytest:
        pytest.xfail(skip_text(result))
    raise unittest.SkipTest(skip_text(result))


def _place_of_entry(result: CaseResult, session: Session) -> str | None:
    if result.scope is None:
        return None
    return session.registry.place_of_skip(result.scope, result.model_class)
