from eyelevel.browser.chromium.process import EXECUTABLE_VARIABLE
from eyelevel.run.level.cache import browser_version


def test_another_browser_has_another_version(tmp_path, monkeypatch):
    for name in ("one", "two"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho browser {name}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv(EXECUTABLE_VARIABLE, str(program))
        assert browser_version() == f"browser {name}"
