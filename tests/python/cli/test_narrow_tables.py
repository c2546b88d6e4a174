"""Tables in narrow terminals: no number is ever broken."""

import io
import random
import string

from eyelevel.cli.output import Screen, table


def printed(shown: object, width: int) -> str:
    screen = Screen()
    screen.file = file = io.StringIO()
    screen.width = width
    screen.print(shown)
    return file.getvalue()


def test_no_number_is_broken_and_no_line_too_long_at_any_width() -> None:
    drawn = random.Random(60)
    for _ in range(300):
        count = drawn.randint(2, 9)
        headings = [
            "name",
            *(drawn.choice(("ms", "first byte", "95 % interval", "of")) for _ in range(count)),
        ]
        shown = table(*headings, right=tuple(headings[1:]))
        numbers = []
        for _ in range(drawn.randint(1, 4)):
            row = [
                f"{drawn.uniform(0, 10 ** drawn.randint(1, 6)):,.{drawn.randint(0, 3)}f}"
                for _ in range(count)
            ]
            numbers += row
            shown.add_row(
                "".join(drawn.choices(string.ascii_lowercase, k=drawn.randint(1, 30))), *row
            )
        width = drawn.choice((40, 60, 60, 80, 120))
        said = printed(shown, width)
        assert sorted(word for word in said.split() if word in set(numbers)) == sorted(numbers), (
            said
        )
        assert max(map(len, said.splitlines())) <= width, said


def test_what_fits_stays_a_table_and_what_does_not_is_a_list() -> None:
    shown = table("host", "round trips", "note", right=("round trips",))
    shown.add_row("a.example", "12.5", "")
    assert printed(shown, 60).splitlines()[0].split() == ["host", "round", "trips", "note"]
    wide = table("host", *(f"n{n}" for n in range(9)), right=tuple(f"n{n}" for n in range(9)))
    wide.add_row("a.example", *["1234567.89"] * 8, "")
    lines = [line.rstrip() for line in printed(wide, 60).splitlines()]
    assert lines == ["a.example", *(f"  n{n} 1234567.89" for n in range(8))]


def test_a_name_that_is_there_to_be_copied_is_never_cut() -> None:
    shown = table("name", "of", "ms", right=("ms",))
    shown.columns[0].no_wrap = True
    name = "a-name-of-more-letters-than-other-words-have"
    shown.add_row(name, "several words that give way", "1234.5")
    for width in (70, 60, 46):
        assert name in printed(shown, width).split()
