"""Numbers as spreadsheets write them: read where the table decides, else refused."""

import random
import re

import pytest

from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.cell_numbers import style_of
from eyelevel.base.from_outside.limits import TABLE
from eyelevel.base.from_outside.source import Source

SOURCE = Source("f", TABLE)
NBSP, NARROW = "\u00a0", "\u202f"


def read(separator: str, *cells: str) -> list[float | None]:
    style = style_of(separator, [(str(line), cell) for line, cell in enumerate(cells, start=2)])
    return [style.read(cell, str(line), SOURCE) for line, cell in enumerate(cells, start=2)]


def refusal(separator: str, *cells: str) -> str:
    with pytest.raises(OutsideError) as error:
        read(separator, *cells)
    text = str(error.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("separator", "cells", "values"),
    [
        (",", ["10.500", "+5", "-3", "1e-05", ".5", "5."], [10.5, 5, -3, 1e-5, 0.5, 5]),
        (",", ["1,234,567", "1,234.5", "1'234'567", "1 234.5"], [1234567, 1234.5, 1234567, 1234.5]),
        (";", ["94,5", "1.200", "1,234", "1.234.567,5"], [94.5, 1200, 1.234, 1234567.5]),
        (";", ["94.5", "1,200", "1.234"], [94.5, 1200, 1.234]),
        (";", ["7,250", "60"], [7.25, 60]),
        (";", ["0,125", "1.200"], [0.125, 1200]),
        (";", [f"1{NBSP}234,567", f"12{NARROW}000", "1.200"], [1234.567, 12000, 1200]),
        ("\t", ["94,5", "1.200"], [94.5, 1200]),
        ("\t", ["1.234", "2.345"], [1.234, 2.345]),
        ("", ["1.234", "1e3"], [1.234, 1000]),
        (",", ["1,234,567", "234,567"], [1234567, 234567]),
        (",", ["234,567", "1,234.5"], [234567, 1234.5]),
        ("", ["1,234,567", "1,200"], [1234567, 1200]),
    ],
)
def test_a_number_is_read_as_its_table_writes_them(separator, cells, values):
    assert read(separator, *cells) == values


@pytest.mark.parametrize(
    "cell",
    ["", "x", "nan", "inf", "1_000", "１２", "1 2345", "12 34", "1,23,456", "1.2.3", "0x10", "--1"],
)
@pytest.mark.parametrize("separator", [",", ";", "\t", ""])
def test_what_is_no_number_is_none(separator, cell):
    assert read(separator, cell) == [None]


@pytest.mark.parametrize(
    ("separator", "cells", "said"),
    [
        (",", ["1,234"], "f:2: `1,234` may be 1.234 or 1234; write 1234 or 1.234"),
        (",", ["94.5", "1,200"], "f:3: `1,200` may be 1.200 or 1200; write 1200 or 1.2,"),
        ("\t", ["1,234"], "f:2: `1,234` may be"),
        ("", ["1,234"], "f:2: `1,234` may be"),
        (";", ["1.200", "60"], "f:2: `1.200` may be 1.200 or 1200; write 1200 or 1.2,"),
        (",", ["0,5"], "f:2: `0,5` is not written with a decimal point; write 0.5"),
        (",", ["1.234,5"], "f:2: `1.234,5` is not written with a decimal point; write 1234.5"),
        (
            ";",
            ["94,5", "7.25"],
            "f:3: `7.25` is not written with a decimal comma, as `94,5` in line 2 is; write 7,25",
        ),
        (";", ["94.5", "7,25"], "f:3: `7,25` is not written with a decimal point, as `94.5` in"),
        (",", ["20,000"], "f:2: `20,000` may be 20.000 or 20000; write 20000 or 20, whichever"),
        (";", ["20.000"], "f:2: `20.000` may be 20.000 or 20000; write 20000 or 20, whichever"),
        (
            ",",
            ["1,234,567", "0,5"],
            "f:3: `0,5` is not written with a decimal point, as `1,234,567` in line 2 is; write 0",
        ),
    ],
)
def test_what_could_be_two_numbers_is_refused_with_both(separator, cells, said):
    assert refusal(separator, *cells).startswith(said)


@pytest.mark.parametrize(
    ("separator", "cell"),
    [(",", "1,234"), (";", "1.200"), (",", "0,5"), ("\t", "1,250"), (",", "20,000")],
)
def test_what_a_refusal_proposes_is_read(separator, cell):
    _, _, remedy = refusal(separator, cell).partition("; write")
    assert not re.search(r"[0-9]\.(?![0-9])", remedy), "a number ends in a digit"
    proposed = re.findall(r"[0-9.]*[0-9]", remedy)
    assert proposed and all(read(separator, each) == [float(each)] for each in proposed)


def written(value: float, decimal: str, thousands: str, decimals: int) -> str:
    """A number as a spreadsheet of this convention shows it."""
    whole, _, rest = f"{value:.{decimals}f}".partition(".")
    groups = []
    while len(whole) > 3:
        whole, group = whole[:-3], whole[-3:]
        groups.append(group)
    text = (
        thousands.join([whole, *reversed(groups)]) if thousands else whole + "".join(groups[::-1])
    )
    return f"{text}{decimal}{rest}" if rest else text


@pytest.mark.parametrize("seed", range(200))
def test_a_column_is_read_right_or_refused_but_never_otherwise(seed):
    """Where no cell decides, a table is taken to have the decimal sign that its separator has."""
    rng = random.Random(seed)
    decimal = rng.choice(".,")
    thousands = rng.choice(["", "." if decimal == "," else ",", NBSP, "'", " "])
    separator = rng.choice([",", ";", "\t"])
    decimals = rng.randrange(4)
    values = [round(10 ** rng.uniform(-2, 6), decimals) for _ in range(rng.randrange(1, 6))]
    cells = [written(value, decimal, thousands, decimals) for value in values]
    is_open = [re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", cell) is not None for cell in cells]
    decides = any(
        not each and ("." in cell or "," in cell) for cell, each in zip(cells, is_open, strict=True)
    )
    usual = {",": (".",), "\t": (".",), ";": (",",)}[separator]
    grouped = thousands == "," and any(
        "," in cell and not each for cell, each in zip(cells, is_open, strict=True)
    )
    try:
        found = read(separator, *cells)
    except OutsideError:
        assert not grouped, ("a cell decides", separator, cells)
        # Nothing is refused that has the separator's own decimal sign and no second meaning.
        assert any(is_open) or decimal not in usual, (separator, cells)
        return
    if decimal in usual or decides:
        assert found == values, (separator, cells)
