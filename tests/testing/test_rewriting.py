"""Edits in ``skips.py``: what they change, and that the rest stays byte for byte."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from testing.registry import DEFAULT_PATH
from testing.registry.edits import Clean, Edit, Merge, Place, Remove, Rename, Repoint, Sort
from testing.registry.rewriting import rewritten
from testing.registry.saving import SaveError, save
from testing.registry.skip_file import parse

# B36: three entries with comments, of which an edit names one.
TEXT = '''"""Data."""

EXPORT_SKIPS: dict = {  # by scope
    # both runtimes
    "neuron": {
        # the first
        "AlbertModel": "dies in trace",  # since 2.27
        "BertModel": (
            "Same op as `AlbertModel`, "
            "later."
        ),   # odd spacing

        # the last
        "CvtModel": "drifts"
    },
    "onnx": {"T5Model": "a", 'ViTModel':"b"},
    # no more scopes
}

TOLERANCES = {}
'''


def place(text: str) -> Place:
    """Where a text stands in the file."""
    before = TEXT[: TEXT.index(text)]
    return Place(before.count("\n") + 1, len(before) - before.rfind("\n") - 1)


def lines_but(*dropped: str) -> str:
    return "".join(
        line for line in TEXT.splitlines(keepends=True) if not any(d in line for d in dropped)
    )


@pytest.mark.parametrize(
    "edits", [[], [Sort()], [Clean()], [Remove(Place(1, 0))], [Merge(Place(5, 4))]]
)
def test_an_edit_that_has_nothing_to_do_changes_nothing(edits: list[Edit]) -> None:
    assert rewritten(TEXT, edits) == TEXT
    shipped = DEFAULT_PATH.read_text(encoding="utf-8")
    assert rewritten(shipped, edits) == shipped


Layout: TypeAlias = list[tuple[str, list[tuple[str, list[str]]]]]


@st.composite
def layouts(draw: st.DrawFn) -> Layout:
    """Scopes, and the lines of each of their entries with its comments."""
    names = [f"{letter}Model" for letter in "ABCD"]
    scopes = []
    for scope in draw(st.lists(st.sampled_from(["all", "neuron", "onnx"]), unique=True)):
        entries = []
        for name in draw(st.lists(st.sampled_from(names), min_size=1, unique=True)):
            lines = [f"        # {i} above {name}\n" for i in range(draw(st.integers(0, 2)))]
            end = f"  # of {name}" if draw(st.booleans()) else ""
            if draw(st.booleans()):
                lines += [
                    f'        "{name}": (\n',
                    '            "one "\n',
                    f'            "two"\n        ),{end}\n',
                ]
            else:
                lines += [f'        "{name}":   "one",{end}\n']
            entries.append((name, lines))
        scopes.append((scope, entries))
    return scopes


def text_of(scopes: Layout, is_kept: Callable[[str, str], bool]) -> str:
    blocks = []
    for scope, entries in scopes:
        kept = [line for name, lines in entries if is_kept(scope, name) for line in lines]
        if kept:
            blocks.append(
                f'    # {scope}\n    "{scope}": {{\n{"".join(kept)}        # end\n    }},\n'
            )
    return "EXPORT_SKIPS = {\n" + "".join(blocks) + "    # last\n}\n"


@given(layouts(), st.sets(st.sampled_from([f"{letter}Model" for letter in "ABCD"])))
def test_whatever_is_removed_all_else_stays_byte_for_byte(scopes: Layout, names: set[str]) -> None:
    text = text_of(scopes, lambda scope, name: True)
    entries = parse(Path("skips.py"), text.encode()).entries
    dropped = {(str(e.scope), e.model_class): e.place for e in entries if e.model_class in names}
    expected = text_of(scopes, lambda scope, name: (scope, name) not in dropped)
    assert rewritten(text, map(Remove, dropped.values())) == expected


class TestRemove:
    def test_an_entry_goes_with_its_comments_and_nothing_else(self) -> None:
        edited = rewritten(TEXT, [Remove(place('"AlbertModel"'))])
        assert edited == lines_but("the first", "since 2.27")

    def test_one_of_several_lines_goes_whole(self) -> None:
        edited = rewritten(TEXT, [Remove(place('"BertModel"'))])
        start, end = TEXT.index('        "BertModel"'), TEXT.index("\n        # the last")
        assert edited == TEXT[:start] + TEXT[end:]

    def test_the_last_leaves_the_comma_that_was_before_it(self) -> None:
        edited = rewritten(TEXT, [Remove(place('"CvtModel"'))])
        assert edited == TEXT.replace(
            '        ),   # odd spacing\n\n        # the last\n        "CvtModel": "drifts"\n',
            "        )   # odd spacing\n",
        )

    def test_a_comment_before_a_comma_stays(self) -> None:
        text = """EXPORT_SKIPS = {"all": {
    "A": "a"  # of A
    ,
    "B": "b"  # of B
    ,
    "C": "c",
}}
"""
        assert rewritten(text, [Remove(Place(6, 4))]) == text.replace('    "C": "c",\n', "")

    def test_one_of_a_line_goes_alone(self) -> None:
        edited = rewritten(TEXT, [Remove(place('"T5Model"'))])
        assert edited == TEXT.replace('"T5Model": "a", \'ViTModel\'', "'ViTModel'")

    def test_a_scope_left_empty_goes_with_its_comments(self) -> None:
        names = ('"AlbertModel"', '"BertModel"', '"CvtModel"')
        edited = rewritten(TEXT, [Remove(place(name)) for name in names])
        start, end = TEXT.index("    # both runtimes"), TEXT.index('    "onnx"')
        assert edited == TEXT[:start] + TEXT[end:]

    def test_a_table_left_empty_keeps_what_is_said_of_no_entry(self) -> None:
        entries = parse(Path("skips.py"), TEXT.encode()).entries
        edited = rewritten(TEXT, [Remove(entry.place) for entry in entries])
        start, end = TEXT.index("    # both runtimes"), TEXT.index("    # no more scopes")
        assert edited == TEXT[:start] + TEXT[end:]

    def test_a_neighbour_whose_name_begins_alike_stays(self) -> None:
        text = 'EXPORT_SKIPS = {"all": {"T5Model": "a", "T5ModelX": "b", "MT5Model": "c"}}\n'
        [first, *_] = parse(Path("skips.py"), text.encode()).entries
        edited = rewritten(text, [Remove(first.place)])
        assert edited == 'EXPORT_SKIPS = {"all": {"T5ModelX": "b", "MT5Model": "c"}}\n'


class TestOthers:
    def test_a_key_is_renamed_where_it_stands(self) -> None:
        edited = rewritten(TEXT, [Rename(place('"CvtModel"'), "ViTModel")])
        assert edited == TEXT.replace('"CvtModel": "drifts"', '"ViTModel": "drifts"')

    def test_a_reference_is_repointed_and_keeps_its_words(self) -> None:
        edited = rewritten(TEXT, [Repoint(place('"BertModel"'), "AlbertModel", "CvtModel")])
        assert edited == TEXT.replace("as `AlbertModel`", "as `CvtModel`")

    def test_a_reference_within_a_skip_is_repointed(self) -> None:
        text = 'EXPORT_SKIPS = {"all": {"A": Skip(r"Same as `B`.", issue="Same as `B`.")}}\n'
        [entry] = parse(Path("skips.py"), text.encode()).entries
        edited = rewritten(text, [Repoint(entry.place, "B", "C")])
        assert edited == text.replace('r"Same as `B`."', 'r"Same as `C`."')

    def test_a_scope_is_merged_into_the_earlier_one(self) -> None:
        text = """EXPORT_SKIPS = {
    "neuron": {"B": "b"},
    "neuron": {
        "A": "a",  # of A
    },
}
"""
        assert (
            rewritten(text, [Merge(Place(3, 4))])
            == """EXPORT_SKIPS = {
    "neuron": {
        "B": "b",
        "A": "a",  # of A
    },
}
"""
        )

    def test_sorting_moves_comments_with_their_entries(self) -> None:
        text = TEXT.replace('"AlbertModel": ', '"DeiTModel": ')
        assert (
            rewritten(text, [Sort()])
            == '''"""Data."""

EXPORT_SKIPS: dict = {  # by scope
    # both runtimes
    "neuron": {
        "BertModel": (
            "Same op as `AlbertModel`, "
            "later."
        ),   # odd spacing

        # the last
        "CvtModel": "drifts",
        # the first
        "DeiTModel": "dies in trace"  # since 2.27
    },
    "onnx": {"T5Model": "a", 'ViTModel':"b"},
    # no more scopes
}

TOLERANCES = {}
'''
        )

    def test_places_are_in_characters(self) -> None:
        text = 'EXPORT_SKIPS = {"all": {"A": "é…", "B": "b"}}\n'
        _, second = parse(Path("skips.py"), text.encode()).entries
        assert rewritten(text, [Remove(second.place)]) == text.replace(', "B": "b"', "")


class TestSave:
    def test_it_replaces_the_file_and_keeps_its_mode(self, tmp_path: Path) -> None:
        file = tmp_path / "skips.py"
        file.write_bytes(b"old")
        file.chmod(0o640)
        save(file, b"old", b"new")
        assert file.read_bytes() == b"new"
        assert file.stat().st_mode & 0o777 == 0o640
        assert os.listdir(tmp_path) == ["skips.py"]

    def test_a_concurrent_change_is_left_alone(self, tmp_path: Path) -> None:
        file = tmp_path / "skips.py"
        file.write_bytes(b"theirs")
        with pytest.raises(SaveError, match="has changed meanwhile"):
            save(file, b"old", b"new")
        assert file.read_bytes() == b"theirs"
        assert os.listdir(tmp_path) == ["skips.py"]

    def test_a_link_leads_to_the_file(self, tmp_path: Path) -> None:
        file, link = tmp_path / "skips.py", tmp_path / "link.py"
        file.write_bytes(b"old")
        link.symlink_to(file)
        save(link, b"old", b"new")
        assert link.is_symlink()
        assert file.read_bytes() == b"new"

    def test_a_file_that_is_gone_is_an_error_that_says_so(self, tmp_path: Path) -> None:
        with pytest.raises(SaveError, match="was left as it is: No such file"):
            save(tmp_path / "gone.py", b"", b"new")

    def test_a_reader_never_sees_half_of_it(self, tmp_path: Path) -> None:
        file = tmp_path / "skips.py"
        texts = [b"a" * 100_000, b"b" * 200_000]
        file.write_bytes(texts[0])
        seen: set[bytes] = set()
        stop = threading.Event()

        def read() -> None:
            while not stop.is_set():
                seen.add(file.read_bytes())

        reader = threading.Thread(target=read)
        reader.start()
        for i in range(20):
            save(file, texts[i % 2], texts[(i + 1) % 2])
        stop.set()
        reader.join()
        assert seen <= set(texts)
