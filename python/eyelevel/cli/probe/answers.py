"""Print servers' responses for `probe --print`, with control characters escaped."""

from eyelevel.base.from_outside.words import escape_control_characters
from eyelevel.base.json_types import JsonMapping
from eyelevel.cli.output import results


def show_answer(answer: JsonMapping, handshake: str = "") -> None:
    """Print a response's origin and head, an empty line, and the beginning of its body.

    `handshake` names the connection, for an attempt with two.
    """
    where = "" if answer["port"] == 443 else f":{answer['port']}"
    attempt = f"attempt {answer['attempt'] + 1}" + (f", {handshake}" if handshake else "")
    asked = f"{answer['host']}{where}{answer['path']} ({answer['address']})"
    _line(f"{asked}, {answer['protocol']}, {attempt}", style="bold")
    reason = f" {answer['reason']}" if answer["reason"] else ""
    _line(f"{answer['http']} {answer['status']}{reason}")
    for name, value in answer["fields"]:
        _line(f"{name}: {value}")
    if answer["fields_left_out"]:
        _line(f"({answer['fields_left_out']} more fields)", style="dim")
    _line("")
    for line in answer["body"].splitlines():
        _line(line.expandtabs())
    if not answer["body_whole"]:
        _line("(the body goes on)", style="dim")
    elif not answer["body"]:
        _line("(no body)", style="dim")
    _line("")


def _line(text: str, style: str = "") -> None:
    results.print(escape_control_characters(text, keep=""), style=style, soft_wrap=True)
