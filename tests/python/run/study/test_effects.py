"""What a run's live line says: nothing of effects, or intervals that hold at every look."""

import pytest
import typer
from synthetic_run import SITES, metrics_of, write_run
from typer.testing import CliRunner

from eyelevel.analysis.decisions import horizon_of
from eyelevel.analysis.formats import format_interval, format_percent
from eyelevel.analysis.gains.sequential import sequential_gains
from eyelevel.analysis.study import read_results
from eyelevel.cli.run import run as command
from eyelevel.plan.presets import preset_text
from eyelevel.run.study.loop import RunResult
from eyelevel.run.study.stopping import live_effects
from eyelevel.sites.recorded import RecordedSite

STOP = "\n[stop]\n"
MANY = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 12")


def test_a_fixed_run_shows_no_effects_unless_it_is_asked_to(tmp_path):
    plan = write_run(tmp_path)
    assert live_effects(plan, tmp_path, peek=False) is None
    assert live_effects(plan, tmp_path, peek=True) is not None


def test_a_run_that_may_stop_shows_its_sequence(tmp_path):
    plan = write_run(tmp_path, text=MANY + STOP)
    assert live_effects(plan, tmp_path, peek=False) is not None


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    directory = tmp_path_factory.mktemp("many")
    return directory, write_run(directory, text=MANY)


def test_what_is_shown_is_the_confidence_sequence_over_all_comparisons(many):
    directory, plan = many
    said = live_effects(plan, directory, peek=True)()
    results = read_results(directory, metrics_of)
    kept = results.blocks.kept
    asked = (results.comparisons, results.networks, results.sites)
    sequence = sequential_gains(kept, plan.primary_metric, *asked, horizon_of(plan))
    assert len(sequence) > 1
    for gain in sequence:
        expected = f"{gain.comparison} on {gain.network} {format_percent(gain.gain.value)}"
        assert f"{expected} [{format_interval(gain.gain)}]" in said
    assert said.startswith("so far, of 48 blocks: ")
    assert said.endswith(" (these intervals hold at every look)")


def test_a_gain_without_an_interval_is_not_shown(tmp_path):
    plan = write_run(tmp_path, text=MANY.replace("blocks = 12", "blocks = 1"))
    assert live_effects(plan, tmp_path, peek=True)() == ""


@pytest.mark.parametrize(
    ("words", "more", "shown"), [([], "", False), (["--peek"], "", True), ([], STOP, True)]
)
def test_the_command_shows_them_as_it_was_asked(words, more, shown, tmp_path, monkeypatch):
    seen = []

    def run_trials(
        trials, archives, directory, show, rule, execution, effects, driver, on_committed
    ):
        assert driver is None
        seen.append(effects)
        return RunResult(directory, 1, 0, interrupted=True)

    plan = write_run(tmp_path, text=preset_text("quickstart", SITES) + more)
    site = RecordedSite("startup", tmp_path, "")
    for name, stand_in in (
        ("read_plan", lambda *_, **__: plan),
        ("open_pages", lambda _: [site]),
        ("foretell", lambda *_: ""),
        ("prepare", lambda *_, **__: []),
        ("run_trials", run_trials),
    ):
        monkeypatch.setattr(command, name, stand_in)
    app = typer.Typer()
    app.command()(command.run)
    arguments = ["plan.toml", "--out", str(tmp_path), *words]
    assert CliRunner().invoke(app, arguments, catch_exceptions=False).exit_code == 130
    assert [each is not None for each in seen] == [shown]
