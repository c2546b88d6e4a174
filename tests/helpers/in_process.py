"""The command `eyelevel` called in this process, which spares each call the start of Python."""

import contextlib
import io
import signal
import subprocess
import sys
from unittest.mock import patch

from eyelevel.cli.main import TERMINATING, main


def run_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command as its script does; return its exit status and what it printed."""
    out, err = io.StringIO(), io.StringIO()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, *TERMINATING)}
    try:
        with (
            patch.object(sys, "argv", ["eyelevel", *arguments]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            try:
                status = main()
            except SystemExit as ended:
                status = ended.code if isinstance(ended.code, int) else 1
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())
