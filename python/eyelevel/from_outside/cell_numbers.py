"""Numbers in cells as people and spreadsheets write them: decimal commas and thousands.

A comma or a point before exactly three digits is the decimal sign in one country and separates
thousands in another. It is read where the table itself decides; else the cell is refused, since a
guess would be wrong by a factor of 1,000.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from eyelevel.from_outside.source import Source
from eyelevel.from_outside.words import excerpt

_GROUPED = re.compile(
    "([+-]?[1-9][0-9]{0,2})((?:[ \u00a0\u2009\u202f][0-9]{3})+|(?:['\u2019][0-9]{3})+)([.,][0-9]*)?"
)
"""Thousands by spaces or apostrophes, which are a decimal sign nowhere."""
_AS = {
    sign: re.compile(
        rf"[+-]?(?:[0-9]+(?:\{sign}[0-9]*)?|\{sign}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?"
        rf"|[+-]?[1-9][0-9]{{0,2}}(?:\{other}[0-9]{{3}})+(?:\{sign}[0-9]*)?"
    )
    for sign, other in ((".", ","), (",", "."))
}
"""A number with this decimal sign, in which the other one may separate thousands."""


@dataclass(frozen=True)
class NumberStyle:
    """The number format of a table: its decimal sign, and the cell that shows it.

    `open`: a sign that may separate thousands before three digits, as far as the table decides.
    """

    decimal: str
    evidence: str = ""
    open: str = ""

    def read(self, text: str, place: str, source: Source) -> float | None:
        """Return the number; None where there is none.

        Raises the source's error for a cell that may be two numbers, or that has another decimal
        sign than its table.
        """
        plain = _without_spaces(text)
        signs = _decimal_signs(plain)
        if not signs:
            return None
        other = "," if self.decimal == "." else "."
        if len(signs) == 2 and self.open and self.open in plain:
            small, large = plain.replace(self.open, "."), plain.replace(self.open, "")
            fault = f"`{excerpt(text)}` may be {excerpt(small)} or {excerpt(large)}"
            short = small.rstrip("0").rstrip(".")
            remedy = f"write {excerpt(large)} or {excerpt(short)}, whichever it is"
            raise source.refusal(fault, place, remedy)
        if self.decimal not in signs:
            right = plain.replace(self.decimal, "").replace(other, self.decimal)
            against = f", as {self.evidence} is," if self.evidence else ""
            name = "point" if self.decimal == "." else "comma"
            fault = f"`{excerpt(text)}` is not written with a decimal {name}{against}"
            raise source.refusal(fault.rstrip(","), place, f"write {excerpt(right)}")
        return float(plain.replace(other, "").replace(self.decimal, "."))


def style_of(separator: str, cells: Iterable[tuple[str, str]]) -> NumberStyle:
    """Return the style of a table: by what separates its cells, then by the numbers in them.

    `cells` are places and texts. Where commas separate, and in JSON, a point is the decimal sign,
    and a number such as `1,234,567` decides that commas separate thousands. Elsewhere the first
    number that can be read in one way alone decides. Without one, a semicolon separates since the
    comma is the decimal sign, and tabs have a point.
    """
    has_point = separator in (",", "")
    for place, text in cells:
        plain = _without_spaces(text)
        signs = _decimal_signs(plain)
        decides = signs == "." and "," in plain if has_point else "," in plain or "." in plain
        if len(signs) == 1 and decides:
            where = f"line {place}" if place.isdecimal() else place
            return NumberStyle(signs, f"`{excerpt(text)}` in {where}")
    return NumberStyle(",", open=".") if separator == ";" else NumberStyle(".", open=",")


def is_written_number(text: str) -> bool:
    """Return whether a cell is a number in one style or another."""
    return bool(_decimal_signs(_without_spaces(text)))


def _decimal_signs(text: str) -> str:
    """Return the decimal signs with which `text` is a number; a whole one has both."""
    return "".join(sign for sign in ".," if _AS[sign].fullmatch(text))


def _without_spaces(text: str) -> str:
    found = _GROUPED.fullmatch(text)
    return text if found is None else re.sub("[^0-9+-]", "", found[1] + found[2]) + (found[3] or "")
