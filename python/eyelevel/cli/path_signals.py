"""Signals of `eyelevel path`: the command's to handle, whoever sent them."""

import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

RELAYED = frozenset({signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT})
SIGNAL_EXIT = 128
"""What shells add to a signal's number for the exit status of whom it ended."""

_SI_KERNEL = 0x80
"""Sent by the kernel (asm-generic/siginfo.h), as a terminal does: to its whole foreground group."""
_WAKE = signal.SIGRTMIN


@contextmanager
def signals_held() -> Iterator[None]:
    """Keep the signals waiting while the block runs; what it starts, threads included, inherits it.

    So the path is whole, or gone, before a signal is heard. `eyelevel-lab` lets them through again.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {*RELAYED, _WAKE})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def heard() -> int:
    """The exit status for a signal that came before there was a command; 0 for none."""
    waiting = signal.sigpending() & RELAYED
    return SIGNAL_EXIT + min(waiting) if waiting else 0


@contextmanager
def relayed(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Pass the held signals on to `process` while the block runs.

    Not those of the terminal, which the command has got already.
    """
    relay = threading.Thread(target=_relay, args=(process.pid,), daemon=True)
    relay.start()
    try:
        yield
    finally:
        assert relay.ident is not None
        signal.pthread_kill(relay.ident, _WAKE)
        relay.join()


def drop_waiting() -> None:
    """Forget the signals that came when the command had ended: the path ends anyhow."""
    while (waiting := signal.sigpending() & RELAYED) and signal.sigtimedwait(waiting, 0):
        continue


def _relay(pid: int) -> None:
    while True:
        found = signal.sigwaitinfo({*RELAYED, _WAKE})
        if found.si_signo == _WAKE:
            return
        if found.si_code != _SI_KERNEL:
            with suppress(ProcessLookupError):
                os.kill(pid, found.si_signo)
