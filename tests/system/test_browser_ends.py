"""A browser in a lab leaves nothing there, so that the lab ends at once."""

from pathlib import Path

import pytest
from labs import CORPUS

from eyelevel.browser import LoadSettings, load_page
from eyelevel.browser.processes import ProcessSession


def states_in_session(leader_pid: int) -> list[str]:
    """The states of all processes of a session, zombies included."""
    states = []
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                text = (folder / "stat").read_text(errors="replace")
            except OSError:
                continue
            fields = text[text.rfind(")") + 2 :].split()
            if int(fields[3]) == leader_pid:
                states.append(fields[0])
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
        assert states_in_session(session.leader_pid) == []
