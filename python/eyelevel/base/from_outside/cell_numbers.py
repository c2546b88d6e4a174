"""Parse numbers in cells with decimal commas or points and thousands separators.

A comma or point before exactly three digits is a decimal sign in some countries and a thousands
separator in others. It is accepted if the rest of the table decides which; otherwise the cell is
refused, since a wrong guess would be off by a factor of 1,000.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt

_GROUPED = re.compile(
    "([+-]?[1-9][0-9]{0,2})((?:[ \u00a0\u2009\u202f][0-9]{3})+|(?:['\u2019][0-9]{3})+)([.,][0-9]*)?"
)
"""A number whose thousands are separated by spaces or apostrophes, which are never decimal
signs.
"""
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
    """Number format of a table: its decimal sign, and the cell that shows it.

    `open`: a sign whose meaning before three digits the table does not decide.
    """

    decimal: str
    evidence: str = ""
    open: str = ""

    def read(self, text: str, place: str, source: Source) -> float | None:
        """Parse a number; returns None if the text is not a number.

        Raises the source's error for an ambiguous cell, or one with another decimal sign than its
        table.
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
    """Return the number format of a table, from its separator and then from its numbers.

    `cells` are places and texts. With commas as separators, and in JSON, the decimal sign is a
    point, and a number such as `1,234,567` shows that commas separate thousands. Otherwise the
    first unambiguous number decides. Without one, semicolons as separators imply a decimal comma,
    and tabs a decimal point.
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
    """Return whether a cell is a number in any format."""
    return bool(_decimal_signs(_without_spaces(text)))


def _decimal_signs(text: str) -> str:
    """Return the decimal signs with which `text` is a number; both for a whole number."""
    return "".join(sign for sign in ".," if _AS[sign].fullmatch(text))


def _without_spaces(text: str) -> str:
    found = _GROUPED.fullmatch(text)
    return text if found is None else re.sub("[^0-9+-]", "", found[1] + found[2]) + (found[3] or "")
