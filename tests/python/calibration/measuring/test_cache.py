from eyelevel.browser.chromium.process import EXECUTABLE_VARIABLE
from eyelevel.calibration.measuring import cache as level_cache
from eyelevel.calibration.measuring.cache import RunCache, browser_version
from eyelevel.lab.confinement import UNSAFE_VARIABLE
from eyelevel.load.external_server import with_server
from eyelevel.load.servers.recipes import get_recipe
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import ExternalServer


def test_another_browser_has_another_version(tmp_path, monkeypatch):
    for name in ("one", "two"):
        program = tmp_path / name
        program.write_text(f"#!/bin/sh\necho browser {name}\n", encoding="utf-8")
        program.chmod(0o755)
        monkeypatch.setenv(EXECUTABLE_VARIABLE, str(program))
        assert browser_version() == f"browser {name}"


def test_what_was_measured_unconfined_is_kept_apart(monkeypatch):
    pair = (STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"])
    monkeypatch.delenv(UNSAFE_VARIABLE, raising=False)
    confined = RunCache(pair).key
    assert RunCache(pair[::-1]).key == confined
    monkeypatch.setenv(UNSAFE_VARIABLE, "1")
    assert RunCache(pair).key != confined


def test_what_was_measured_with_a_core_less_is_kept_apart(monkeypatch):
    pair = (STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"])
    keys = set()
    for allowed in (True, False):
        monkeypatch.setattr(level_cache, "_realtime_allowed", lambda allowed=allowed: allowed)
        keys.add(RunCache(pair).key)
    assert len(keys) == 2


def test_a_recipes_program_of_another_version_is_measured_anew(tmp_path, monkeypatch):
    program = tmp_path / "caddy"
    monkeypatch.setenv("CADDY", str(program))
    keys = set()
    for version in ("1", "2"):
        program.write_text(f"#!/bin/sh\necho v{version}\n", encoding="utf-8")
        program.chmod(0o755)
        start = get_recipe("caddy")
        server = ExternalServer(start.command, ("h3",), start.paths)
        caddy = with_server(STACKS_BY_NAME["quic"], "caddy", server)
        keys.add(RunCache((STACKS_BY_NAME["quic"], caddy)).key)
    assert len(keys) == 2
