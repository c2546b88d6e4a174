"""A program that we started and somebody stopped: the kernel keeps it until we ask."""

import os
import signal

from eyelevel.browser.processes import ProcessSession


def test_a_stop_is_told_once_whether_it_lasts_or_is_over() -> None:
    read_end, write_end = os.pipe()
    # It reads what nobody writes, until it is killed.
    session = ProcessSession.start(
        ["cat", "/dev/fd/3"], {3: read_end}, {"PATH": os.environ["PATH"]}
    )
    try:
        assert not session.was_suspended()
        os.kill(session.leader_pid, signal.SIGSTOP)
        os.waitid(os.P_PID, session.leader_pid, os.WSTOPPED | os.WNOWAIT)
        assert session.was_suspended() and not session.was_suspended()
        os.kill(session.leader_pid, signal.SIGCONT)
        os.waitid(os.P_PID, session.leader_pid, os.WCONTINUED | os.WNOWAIT)
        assert session.was_suspended() and not session.was_suspended()
    finally:
        session.end(named="eyelevel-test-of-processes")
        os.close(read_end)
        os.close(write_end)
    assert not session.was_suspended()
