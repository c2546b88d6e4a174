"""A browser in a lab leaves nothing there, so that the lab ends at once."""

from pathlib import Path

import pytest
from labs import CORPUS

from eyelevel.browser.browsers import load_page
from eyelevel.browser.observations import LoadSettings
from eyelevel.browser.processes import ProcessSession


def namespace_depth(pid: int | str) -> int:
    """In how many nested process namespaces a process has an id (NSpid of proc(5))."""
    lines = Path(f"/proc/{pid}/status").read_text(errors="replace").splitlines()
    return len(next(line for line in lines if line.startswith("NSpid:")).split()) - 1


def left_of_session(leader_pid: int) -> list[str]:
    """The states of a session's processes, but for those its lab's init takes away."""
    states = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text(errors="replace")
            except OSError:
                continue
            fields = text[text.rfind(")") + 2 :].split()
            if int(fields[3]) != leader_pid:
                continue
            state, parent = fields[0], fields[1]
            held_outside = namespace_depth(parent) == namespace_depth("self")
            if state != "Z" or held_outside:
                states.append(state)
    return states


def test_no_zombie_holds_the_labs_end_up(new_lab, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions: list[ProcessSession] = []
    start = ProcessSession.start.__func__

    def noted(cls, *arguments, **more) -> ProcessSession:
        sessions.append(start(cls, *arguments, **more))
        return sessions[-1]

    monkeypatch.setattr(ProcessSession, "start", classmethod(noted))
    with new_lab(site=CORPUS / "dashboard.wacz") as lab:
        url, key = lab.ready.main_url, lab.ready.spki_sha256
        asked = LoadSettings(url, spki_sha256=key, quiet_s=0.1, command_prefix=lab.command_prefix)
        assert load_page(asked).ended == "complete"
        (session,) = sessions
        assert left_of_session(session.leader_pid) == []
