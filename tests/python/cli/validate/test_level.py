import pytest
from typer.testing import CliRunner

from eyelevel.calibration.level.rows import rows_of
from eyelevel.calibration.measuring.measure import Level, in_force_of
from eyelevel.cli.validate import commands as validate_level
from eyelevel.cli.validate.commands import app
from eyelevel.plan.stack_presets import STACKS_BY_NAME


def test_an_interrupted_measurement_says_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(validate_level, "validate_level", interrupted)
    done = CliRunner().invoke(app, ["level", "--stacks", "tcp,quic"])
    assert done.exit_code != 0
    assert (done.stdout, done.stderr.splitlines()[0]) == (
        "",
        "what was measured is kept; the same command continues where it stopped",
    )


def test_nothing_is_said_to_be_kept_where_every_run_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    pair = (STACKS_BY_NAME["tcp+"], STACKS_BY_NAME["quic"])
    rows = tuple(rows_of([], in_force_of(pair)))
    measured = Level("tcp+", "quic", rows, ("page on far, quic: no lab",), complete=False)
    monkeypatch.setattr(validate_level, "validate_level", lambda *_, **__: measured)
    done = CliRunner().invoke(app, ["level", "--stacks", "tcp+,quic"])
    assert done.stdout.startswith("Whether tcp+ and quic are level is not known")
    assert "no lab" in done.output and "kept:" not in done.output
