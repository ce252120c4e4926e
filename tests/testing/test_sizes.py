from __future__ import annotations

import pytest

from testing.sizes import SizeError, parse_size, size_text


@pytest.mark.parametrize(
    ("text", "size"),
    [("8G", 2**33), ("512 MiB", 2**29), ("1.5g", 3 * 2**29), ("4096", 4096), ("2KB", 2048)],
)
def test_units_are_powers_of_1024(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "G", "-1G", "8X", "0", "1e9", "8 GG", "nan", "9" * 400])
def test_what_is_no_amount_is_refused_by_its_text(text: str) -> None:
    with pytest.raises(SizeError, match=f"'{text}' is no amount of memory"):
        parse_size(text)


@pytest.mark.parametrize(
    ("size", "text"),
    [(2**33, "8 GiB"), (3 * 2**29, "1.5 GiB"), (2**29, "512 MiB"), (100, "100 bytes")],
)
def test_sizes_are_told_in_the_largest_unit(size: int, text: str) -> None:
    assert size_text(size) == text
