"""Who reads a log sees how far a long command is, and not each step of it."""

import io

from eyelevel.cli.output import LOG_LINE_EVERY_S, LogLines, Screen


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def told(file: io.StringIO, at_s: list[float]) -> list[str]:
    screen, times_s = Screen(), iter([0.0, *at_s])
    screen.file = file
    lines = LogLines(screen, lambda: next(times_s))
    for second in at_s:
        lines.tell(f"{second:g} of 100 loads", "", "1 min left")
    return file.getvalue().splitlines()


def test_a_line_comes_now_and_then() -> None:
    every_s = LOG_LINE_EVERY_S
    steps_s = [1.0, every_s, every_s + 1, 2 * every_s - 1, 2 * every_s]
    assert told(io.StringIO(), steps_s) == [
        f"{every_s:g} of 100 loads, 1 min left",
        f"{2 * every_s:g} of 100 loads, 1 min left",
    ]


def test_a_terminal_has_its_bar() -> None:
    assert told(Terminal(), [LOG_LINE_EVERY_S]) == []


def test_what_a_no_break_space_joins_stays_on_one_line() -> None:
    screen = Screen()
    screen.file = io.StringIO()
    screen.width = 18
    screen.print("so much or so (95\N{NO-BREAK SPACE}% interval)")
    first, second = screen.file.getvalue().splitlines()
    assert first.rstrip() == "so much or so"
    assert second == "(95\N{NO-BREAK SPACE}% interval)"
