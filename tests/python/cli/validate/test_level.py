import pytest
from typer.testing import CliRunner

from eyelevel.cli.validate import level as validate_level
from eyelevel.cli.validate.commands import app


def test_an_interrupted_measurement_says_that_it_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*given, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(validate_level, "validate_level", interrupted)
    done = CliRunner().invoke(app, ["level", "--stacks", "tcp,quic"])
    assert done.exit_code != 0
    assert (done.stdout, done.stderr.splitlines()[0]) == (
        "",
        "what was measured is kept; the same command goes on where it was",
    )
