"""The diagnostic log on standard error: `eyelevel -v` for steps of a load, `-vv` for messages.

Loggers are named by module, such as `eyelevel.lab.client`. Lines begin with CLOCK_MONOTONIC in
seconds, the clock of records, qlog and packet captures, so that they can be compared.
"""

import json
import logging
import os
import time

from eyelevel.base.errors import ExpectedError, unknown
from eyelevel.base.from_outside.words import escape_control_characters

VARIABLE = "EYELEVEL_LOG"
"""Environment variable with the level, for child processes."""

LEVELS = {"info": logging.INFO, "debug": logging.DEBUG}

MESSAGE_CHARACTERS_MAX = 400
"""Maximum length of a logged message: configurations have some hundred characters, but a page's
script or image may have millions.
"""


class _Formatter(logging.Formatter):
    """Formats an entry as one line, with control characters of pages and servers escaped."""

    def format(self, record: logging.LogRecord) -> str:
        text = f"{time.monotonic():.3f} {record.process} {record.name}: {record.getMessage()}"
        return escape_control_characters(text)


def start_log(level_name: str) -> None:
    """Write entries of this level (a key of LEVELS) and above to standard error.

    Child processes started from now on do the same once they call `start_inherited_log`.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(_Formatter())
    logger = logging.getLogger("eyelevel")
    for earlier in tuple(logger.handlers):
        logger.removeHandler(earlier)
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(LEVELS[level_name])
    os.environ[VARIABLE] = level_name


def start_inherited_log() -> None:
    """Start the log that VARIABLE requests, if it is set.

    Raises `ExpectedError` for an unknown level.
    """
    level_name = os.environ.get(VARIABLE, "")
    if level_name and level_name not in LEVELS:
        raise ExpectedError(f"{VARIABLE}: {unknown('level', level_name, LEVELS)}")
    if level_name:
        start_log(level_name)


class Shortened:
    """A message as JSON of at most MESSAGE_CHARACTERS_MAX, encoded only if it is logged."""

    def __init__(self, message: object) -> None:
        self._message = message

    def __str__(self) -> str:
        text = json.dumps(self._message, ensure_ascii=False)
        rest = len(text) - MESSAGE_CHARACTERS_MAX
        return text if rest <= 0 else f"{text[:MESSAGE_CHARACTERS_MAX]}… ({rest} more)"
