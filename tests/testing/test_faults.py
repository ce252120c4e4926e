from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree

import pytest

from testing.faults import MESSAGE_LIMIT, describe_error, readable, source_of


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError("no text")


def raised(error: BaseException, cause: BaseException | None = None) -> BaseException:
    try:
        raise error from cause
    except BaseException as caught:
        return caught


def raised_in(filename: str, line: int = 7, error: str = "ValueError('x')") -> BaseException:
    """An error whose innermost frame is at a line of a file that need not exist."""
    code = compile("\n" * (line - 1) + f"raise {error}", filename, "exec")
    try:
        exec(code, {})
    except Exception as caught:
        return caught
    raise AssertionError("nothing was raised")


def test_error_is_told_with_type_and_text():
    assert describe_error(ValueError("width 3")) == "ValueError: width 3"
    assert describe_error(ValueError()) == "ValueError"


def test_error_whose_text_cannot_be_had_is_told_b46():
    told = describe_error(Unspeakable())
    assert told == "Unspeakable: <its text cannot be had: __str__ raised RuntimeError>"


def test_characters_that_break_reports_become_visible_b34():
    text = "\x1b[31mred\x00 \ud800 \U0001f600 ]]> <&\"' \x9f\n\tline"
    told = readable(text)
    assert told == "\\x1b[31mred\\x00 \\ud800 \U0001f600 ]]> <&\"' \\x9f\n\tline"
    assert json.loads(json.dumps(told)) == told
    element = ElementTree.Element("message")
    element.text = told
    assert ElementTree.fromstring(ElementTree.tostring(element, "unicode")).text == told


@pytest.mark.parametrize("text", ["x" * 10**6, "\x00" * 10**6, "line\n" * 10**5])
def test_long_text_is_cut_and_says_how_long_it_was_b34(text):
    told = readable(text)
    assert len(told) <= MESSAGE_LIMIT
    assert told.endswith(f"({len(text)} characters in all)")


def test_short_text_is_kept_as_it_is():
    assert readable("a" * MESSAGE_LIMIT) == "a" * MESSAGE_LIMIT


def test_source_is_the_line_of_the_modeling_file():
    error = raised_in("/x/transformers/models/bert/modeling_bert.py", 41)
    assert source_of(error) == "modeling_bert.py:41"


def test_modeling_file_is_preferred_to_frames_inside_it():
    inner = raised_in("/x/transformers/pytorch_utils.py", 3)
    outer = compile("\n\nraise inner", "/x/transformers/models/t5/modeling_t5.py", "exec")
    with pytest.raises(ValueError, match="x") as caught:
        exec(outer, {"inner": inner})
    assert source_of(caught.value) == "modeling_t5.py:3"


def test_own_files_are_preferred_to_the_rest_of_transformers():
    error = raised_in("/x/transformers/modeling_utils.py", 5)
    assert source_of(error) == "modeling_utils.py:5"
    own = raised_in(__file__, 9)
    assert source_of(own, [__file__]) == "test_faults.py:9"
    assert source_of(own) is None


def test_source_is_found_in_the_cause_of_a_wrapped_error():
    cause = raised_in("/x/transformers/models/vit/modeling_vit.py", 12)
    assert source_of(raised(RuntimeError("trace failed"), cause)) == "modeling_vit.py:12"
