"""Which entry of ``skips.py`` applies to a case."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from testing.cases import ExportCase
from testing.registry.conditions import Condition, Installed
from testing.registry.entries import Tolerance
from testing.registry.problems import SkipFileError
from testing.registry.skip_file import (
    EXPORT_SKIPS,
    ONNX_DISABLE_OPTIMIZE,
    TABLES,
    TOLERANCES,
    Entry,
    read,
)
from testing.scopes import Scope, scopes_of

__all__ = ["DEFAULT_PATH", "Entry", "Registry", "SkipFileError"]

DEFAULT_PATH = Path(__file__).resolve().parents[2] / "skips.py"
"""The project's own file; beside this package in a checkout and when it is installed."""


class Registry:
    """The entries of one file, looked up by case.

    Names match whole and the order of the file has no influence.
    """

    def __init__(
        self,
        entries: Iterable[Entry] = (),
        path: Path = DEFAULT_PATH,
        installed: Installed | None = None,
    ) -> None:
        """Take entries that were checked.

        Args:
            entries: Entries of one file.
            path: The file, for messages.
            installed: Gives the versions that ``when`` is held against.
        """
        self.entries = tuple(entries)
        self.path = path
        self._installed = installed
        self._by_key = {(e.table, e.scope, e.model_class): e for e in self.entries}

    @classmethod
    def load(cls, path: Path | str | None = None) -> Registry:
        """Read a file, the project's own by default.

        Raises:
            SkipFileError: It has problems; the message gives file and line of each.
        """
        file = Path(path) if path is not None else DEFAULT_PATH
        contents = read(file)
        if contents.problems:
            raise SkipFileError(file, contents.problems)
        return cls(contents.entries, file)

    def skip_for(self, case: ExportCase, component: str | None = None) -> Entry | None:
        """The broadest entry that skips `case`; ``.exactness`` entries never do.

        Args:
            case: The case, its runtime resolved.
            component: A component of the case; entries that name one skip only that.
        """
        return next(self.skips_for(case, component), None)

    def skips_for(self, case: ExportCase, component: str | None = None) -> Iterator[Entry]:
        """Every entry that skips `case`, from broad to narrow."""
        return self.matches(case, EXPORT_SKIPS, component=component)

    def components_of(self, case: ExportCase) -> tuple[str, ...]:
        """The components of a case that entries name, in the order of their names."""
        entries = [e for table in TABLES for e in self.about(case, table)]
        entries += self.about(case, EXPORT_SKIPS, exactness=True)
        return tuple(sorted({e.value.component for e in entries if e.value.component}))

    def exactness_for(self, case: ExportCase, component: str | None = None) -> Entry | None:
        """The broadest entry under which figures of `case` cannot fail it."""
        return next(self.matches(case, EXPORT_SKIPS, exactness=True, component=component), None)

    def optimizer_off_for(self, case: ExportCase, component: str | None = None) -> Entry | None:
        """The broadest entry that turns the ONNX optimizer off for `case`."""
        return next(self.matches(case, ONNX_DISABLE_OPTIMIZE, component=component), None)

    def tolerance_for(
        self, case: ExportCase, default: float, component: str | None = None
    ) -> Tolerance:
        """Tolerance of the narrowest entry that applies to `case`, else the backend's.

        Args:
            case: The case, its runtime resolved.
            default: Absolute and relative tolerance of the backend.
            component: A component of the case, as in `skip_for`.
        """
        matches = self.matches(case, TOLERANCES, component=component)
        values = [entry.value for entry in matches]
        given = [value for value in values if isinstance(value, Tolerance)]
        return given[-1] if given else Tolerance(atol=default, rtol=default)

    def matches(
        self,
        case: ExportCase,
        table: str,
        *,
        exactness: bool = False,
        component: str | None = None,
    ) -> Iterator[Entry]:
        """Every entry of `table` that applies to `case`, from broad to narrow."""
        for entry in self.about(case, table, exactness=exactness):
            if self._applies(entry, component):
                yield entry

    def about(self, case: ExportCase, table: str, *, exactness: bool = False) -> Iterator[Entry]:
        """The entries under scopes of `case`, from broad to narrow, whether or not they apply."""
        for scope in scopes_of(case, exactness=exactness):
            if entry := self.find(table, scope, case.model_class):
                yield entry

    def find(self, table: str, scope: Scope, model_class: str) -> Entry | None:
        """The entry under exactly this scope and name, whether or not its ``when`` holds."""
        return self._by_key.get((table, scope, model_class))

    def place_of_skip(self, scope: str, model_class: str) -> str | None:
        """``skips.py:35``, where the entry under exactly this scope and name is; None without it.

        Args:
            scope: The scope as results have it.
            model_class: Name of the class.
        """
        entry = self.find(EXPORT_SKIPS, Scope.parse(scope), model_class)
        if entry is None:
            return None
        here = Path.cwd()
        path = self.path.relative_to(here) if self.path.is_relative_to(here) else self.path
        return f"{path}:{entry.line}"

    def holds(self, entry: Entry) -> bool:
        """Whether the ``when`` of an entry holds of what is installed; true without one."""
        when = entry.value.when
        return when is None or Condition.parse(when).holds(self._installed)

    def _applies(self, entry: Entry, component: str | None) -> bool:
        return entry.value.component in (None, component) and self.holds(entry)
