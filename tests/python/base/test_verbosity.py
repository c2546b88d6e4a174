"""The diagnostic log: levels, inheritance by processes, and text that steers no terminal."""

import logging
import os
import subprocess
import sys

import pytest

from eyelevel.base.errors import ExpectedError
from eyelevel.base.verbosity import (
    MESSAGE_CHARACTERS_MAX,
    VARIABLE,
    Shortened,
    start_inherited_log,
    start_log,
)
from eyelevel.lab.client import Conversation

ECHO = (
    "import sys\n"
    "for line in sys.stdin:\n"
    '    print(\'{"event": "echo", "line": \' + line.strip() + \'}\', flush=True)\n'
    "print('last \x1b]0;title\x07 words', file=sys.stderr)\n"
)


@pytest.fixture(autouse=True)
def no_log_afterwards(monkeypatch):
    monkeypatch.setenv(VARIABLE, "")
    yield
    logger = logging.getLogger("eyelevel")
    logger.handlers, logger.propagate = [], True
    logger.setLevel(logging.NOTSET)


def converse():
    conversation = Conversation("the echo", [sys.executable, "-c", ECHO])
    conversation.say({"command": "a"})
    conversation.wait_for("echo", 30.0)
    conversation.end(30.0)


def test_nothing_is_written_unless_it_is_asked_for(capsys):
    converse()
    start_inherited_log()
    converse()
    assert capsys.readouterr().err == ""


def test_info_has_steps_and_no_messages(capsys):
    start_log("info")
    converse()
    [line] = capsys.readouterr().err.splitlines()
    time_s, process, rest = line.split(" ", 2)
    assert float(time_s) > 0 and int(process) == os.getpid()
    assert rest == "eyelevel.lab.client: the echo: last \\x1b]0;title\\x07 words"


def test_debug_has_commands_and_messages(capsys):
    start_log("debug")
    converse()
    said = capsys.readouterr().err
    assert "the echo: started as process" in said
    assert 'to the echo: {"command": "a"}' in said and 'from the echo: {"event": "echo"' in said


def test_processes_inherit_the_level():
    start_log("debug")
    program = (
        "import logging; from eyelevel.base.verbosity import start_inherited_log;"
        "start_inherited_log();"
        "logging.getLogger('eyelevel.x').debug('heard')"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stderr.endswith("eyelevel.x: heard\n")


def test_an_unknown_level_is_refused_with_the_known_ones(monkeypatch):
    monkeypatch.setenv(VARIABLE, "verbose")
    with pytest.raises(ExpectedError, match=r"EYELEVEL_LOG: .*`verbose`; known: info, debug"):
        start_inherited_log()


def test_long_messages_are_cut_with_their_length():
    assert str(Shortened({"a": 1})) == '{"a": 1}'
    text = str(Shortened("x" * 1000))
    assert text.endswith(f"… ({1002 - MESSAGE_CHARACTERS_MAX} more)")
