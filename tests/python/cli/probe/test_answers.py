"""What servers answered, on a terminal."""

from typing import Any

import pytest

from eyelevel.cli.probe.output import Form, Sink, show_answer

ANSWER: dict[str, Any] = {
    "event": "answer", "host": "a.example", "port": 8443, "path": "/x", "protocol": "tls1.2",
    "attempt": 1, "order": 3, "address": "192.0.2.1", "http": "HTTP/1.1", "status": 404,
    "reason": "Gone \x1b[2Jmissing", "fields": [["server", "a\x1b]0;b\x07"], ["x", "1\n2"]],
    "fields_left_out": 2, "body": "<p>\r\n\tbold\x1b[1m \u202e[red]\n", "body_whole": False,
}  # fmt: skip


def test_head_and_body_are_text_and_steer_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    show_answer(ANSWER)
    said = capsys.readouterr().out
    assert said == (
        "a.example:8443/x (192.0.2.1), tls1.2, attempt 2\n"
        "HTTP/1.1 404 Gone \\x1b[2Jmissing\n"
        "server: a\\x1b]0;b\\x07\nx: 1\\n2\n(2 more fields)\n\n"
        "<p>\n        bold\\x1b[1m \\u202e[red]\n(the body goes on)\n\n"
    )
    show_answer(ANSWER | {"body": "", "body_whole": True, "port": 443}, "resumed")
    assert "a.example/x (192.0.2.1), tls1.2, attempt 2, resumed\n" in (
        again := capsys.readouterr().out
    )
    assert again.endswith("\n\n(no body)\n\n")


def test_answers_stand_between_rows_and_are_none(capsys: pytest.CaptureFixture[str]) -> None:
    with Sink(None, None) as sink:
        sink.take(ANSWER)
        sink.round_over()
    assert capsys.readouterr().out.count("a.example") == 1, "no table of an answer"
    with Sink(None, None, Form.JSON) as sink:
        sink.take(ANSWER)
    line = capsys.readouterr().out
    assert line.count("\n") == 1 and "\x1b" not in line and "\u202e" not in line
