"""The files of docs/ci: their shell, run as a runner runs it, with the real command and real loads.

A runner's own part is small: it sets variables, starts `bash -eo pipefail` for each block, and
adds to PATH what a block wrote into $GITHUB_PATH. The wheel is a small one whose command is this
tree's; that the real one installs is tested with it.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from repository import ROOT
from synthetic_run import SITES, write_run
from timeouts import TEST_TIMEOUT_S

from eyelevel.plan.presets import preset_text

FILES = ROOT / "docs" / "ci"
ACTION = yaml.safe_load((FILES / "action.yml").read_text("utf-8"))
PAGES = yaml.safe_load((FILES / "pages.yml").read_text("utf-8"))
WORKFLOW = yaml.safe_load((FILES / "workflow.yml").read_text("utf-8"))
GITLAB = yaml.safe_load((FILES / "gitlab-ci.yml").read_text("utf-8"))
STEPS = {step["name"]: step for step in ACTION["runs"]["steps"]}
SERVER = ROOT / "docs" / "guides" / "servers" / "h3_aioquic.py"
RAN = (0, 3)
"""A busy machine is not what this is about: it may leave a gate inconclusive."""


class Runner:
    """A workspace, and what a runner keeps between blocks."""

    def __init__(self, folder: Path) -> None:
        self.workspace, self.kept = folder / "work", folder / "kept"
        for each in (self.workspace, self.kept, self.kept / "bin"):
            each.mkdir(parents=True)
        # What would change this machine is only noted.
        for name in ("sysctl", "modprobe", "chmod", "sudo"):
            program = self.kept / "bin" / name
            program.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.kept}/asked\n')
            program.chmod(0o755)
        for name in ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY"):
            (self.kept / name).touch()

    def written(self, name: str) -> str:
        return (self.kept / name).read_text()

    def block(self, text: str, **named: str) -> subprocess.CompletedProcess[str]:
        """As `shell: bash` is documented."""
        paths = [*reversed(self.written("GITHUB_PATH").split()), str(self.kept / "bin")]
        files = ("GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")
        environment = {
            **{key: value for key, value in os.environ.items() if key != "PYTHONPATH"},
            "PATH": ":".join([*paths, os.environ["PATH"]]),
            **{name: str(self.kept / name) for name in files},
            "RUNNER_TEMP": str(self.kept),
            "PIP_NO_INDEX": "1",
            **named,
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
            cwd=self.workspace, env=environment, capture_output=True, text=True,
            timeout=TEST_TIMEOUT_S, check=False,
        )  # fmt: skip

    def step(self, name: str, **given: str) -> subprocess.CompletedProcess[str]:
        """A block of the action with inputs as `with:` gives them."""
        step = STEPS[name]
        return self.block(step["run"], **environment_of(step.get("env", {}), given))


def environment_of(written: Mapping[str, str], given: Mapping[str, str]) -> dict[str, str]:
    inputs = {name: str(each.get("default", "")) for name, each in ACTION["inputs"].items()}
    inputs |= {name.replace("_", "-"): value for name, value in given.items()}
    found = {}
    for name, expression in written.items():
        match = re.fullmatch(r"\$\{\{ inputs\.([\w-]+) \}\}", expression)
        assert match and match[1] in inputs, expression
        found[name] = inputs[match[1]]
    return found


def write_wheel(folder: Path) -> None:
    """A wheel whose command `eyelevel` is that of this tree."""
    folder.mkdir()
    info = "eyelevel-0.0.1.dist-info"
    command = f'#!/bin/sh\nexec {sys.executable} -m eyelevel "$@"\n'
    members = {
        "eyelevel-0.0.1.data/scripts/eyelevel": command,
        f"{info}/METADATA": "Metadata-Version: 2.1\nName: eyelevel\nVersion: 0.0.1\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / "eyelevel-0.0.1-py3-none-any.whl", "w") as wheel:
        for name, text in members.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = 0o100755 << 16  # the command is started
            wheel.writestr(member, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{n},,\n" for n in (*members, f"{info}/RECORD")))


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Runner:
    """Where the action installed its wheel."""
    made = Runner(tmp_path_factory.mktemp("installed"))
    write_wheel(made.workspace / "wheels")
    done = made.step("Install eyelevel", wheel="wheels/eyelevel-*.whl")
    assert done.returncode == 0, done.stdout + done.stderr
    assert made.written("GITHUB_PATH") == f"{made.kept}/eyelevel/bin\n"
    return made


@pytest.fixture
def runner(installed: Runner, tmp_path: Path) -> Runner:
    """A job of its own, behind that step."""
    made = Runner(tmp_path)
    (made.kept / "GITHUB_PATH").write_text(installed.written("GITHUB_PATH"))
    return made


@pytest.mark.full
def test_a_comparison_passes_and_fails_the_job(runner: Runner):
    text = preset_text("quickstart", SITES).replace("blocks = 3", "blocks = 8")
    for name in ("before", "now now"):
        write_run(runner.workspace / name, text=text)
    command = "compare before 'now now' --metric page_load_time_ms --by"
    done = runner.step("Ask eyelevel", command=f"{command} 30")
    assert done.returncode == 0, done.stdout + done.stderr
    assert runner.written("GITHUB_OUTPUT") == "status=0\n"
    out = runner.workspace / "eyelevel-results"
    assert (out / "gate.xml").read_text().count("<testcase") == 4
    assert "passed: quic.page_load_time_ms on dsl" in (out / "said.txt").read_text()
    assert runner.written("GITHUB_STEP_SUMMARY").startswith("```text\nEach stack is compared with")
    # Runs whose times scatter and a limit of nothing: it cannot pass.
    done = runner.step("Ask eyelevel", command=f"{command} 0")
    assert done.returncode == 3 and runner.written("GITHUB_OUTPUT").endswith("status=3\n")
    done = runner.step("Ask eyelevel", command=f"{command} 0", inconclusive="fail")
    assert done.returncode == 1


def test_words_of_a_command_are_no_shell(runner: Runner):
    done = runner.step("Ask eyelevel", command="compare $(touch x) `touch x` ; touch x")
    assert done.returncode == 2 and not (runner.workspace / "x").exists()


def test_a_pattern_of_two_wheels_or_none_is_refused(tmp_path: Path):
    runner = Runner(tmp_path)
    (runner.workspace / "a-1.whl").touch()
    (runner.workspace / "a-2.whl").touch()
    done = runner.step("Install eyelevel", wheel="a-*.whl")
    assert done.returncode == 2 and "matches 2 files" in done.stdout
    assert runner.step("Install eyelevel", wheel="none-*.whl").returncode != 0


@pytest.mark.full
def test_a_machine_is_made_ready_and_then_examined(runner: Runner):
    done = runner.step("Allow labs")
    examined = runner.block("eyelevel doctor")
    assert done.returncode == examined.returncode
    assert "Chromium" in done.stdout
    asked = runner.written("asked")
    assert "modprobe --quiet tcp_bbr" in asked
    assert "sysctl -n kernel.apparmor_restrict_unprivileged_userns" in asked


@pytest.mark.full
@pytest.mark.usefixtures("labs")
def test_a_pull_request_is_loaded_beside_what_was_before(runner: Runner):
    repository(runner)
    (before,) = (step["run"] for step in WORKFLOW["jobs"]["gate"]["steps"] if "run" in step)
    done = runner.block(before, GITHUB_BASE_REF="main")
    assert done.returncode == 0 and (runner.workspace / "before" / "server.py").exists(), done
    (asked,) = (s["with"] for s in WORKFLOW["jobs"]["gate"]["steps"] if s.get("name") == "Gate")
    given = {name.replace("-", "_"): value for name, value in asked.items() if name != "wheel"}
    done = runner.step("Ask eyelevel", **given)
    assert done.returncode in RAN, done.stdout + done.stderr
    out = runner.workspace / "eyelevel-results"
    assert (out / "gate.xml").read_text().count("<testcase") == 2
    assert "now@external.speed_index_ms on near" in (out / "said.txt").read_text()
    assert (out / "run" / "report.html").exists()


@pytest.mark.full
@pytest.mark.usefixtures("labs")
def test_a_page_is_compared_with_the_one_before_and_commented_once(runner: Runner):
    work = runner.workspace
    (work / "build.sh").write_text("mkdir -p dist && cp index.html dist/\n")
    (work / "build.sh").chmod(0o755)
    (work / "index.html").write_text("<!doctype html><title>a</title><h1>one</h1>")
    at_origin(runner, "build.sh", "index.html")
    (work / "index.html").write_text("<!doctype html><title>a</title><h1>two</h1><p>more")
    (build,) = (step["run"] for step in PAGES["jobs"]["pages"]["steps"] if "run" in step)
    done = runner.block(build, GITHUB_BASE_REF="main")
    assert done.returncode == 0, done.stdout + done.stderr
    (asked,) = (s["with"] for s in PAGES["jobs"]["pages"]["steps"] if s.get("name") == "Compare")
    done = runner.step("Record both", before=asked["before"], after=asked["after"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert asked["command"].startswith("ask before.wacz after.wacz --budget ")
    # As few and as short loads as a verdict needs.
    command = "ask before.wacz after.wacz --blocks 6 --rtt 4ms"
    done = runner.step("Ask eyelevel", command=command, inconclusive=asked["inconclusive"])
    assert done.returncode in RAN, done.stdout + done.stderr
    # A runner's `gh`: it has no comment, then the one that was written.
    gh = runner.kept / "bin" / "gh"
    gh.write_text(
        f'#!/bin/sh\necho "$*" >>{runner.kept}/asked\n[ ! -e {runner.kept}/there ] || echo 41\n'
    )
    gh.chmod(0o755)
    comment = STEPS["Comment once"]
    named = {"GH_TOKEN": "t", "REPOSITORY": "o/r", "REPORT": "https://ci.example/7", "COMMENT": "5"}
    assert comment["env"].keys() == {*named, "OUT"}
    for expected in ("issues/5/comments --field", "--method PATCH repos/o/r/issues/comments/41"):
        done = runner.block(comment["run"], OUT="eyelevel-results", **named)
        assert done.returncode == 0, done.stderr
        assert f"{expected}" in runner.written("asked").splitlines()[-1]
        (runner.kept / "there").touch()
    text = (work / "eyelevel-results" / "comment.md").read_text("utf-8")
    assert text.startswith("<!-- eyelevel -->") and "https://ci.example/7" in text


def test_gitlabs_script_finds_the_build_before_and_asks_for_the_plan(
    installed: Runner, runner: Runner
):
    repository(runner)
    (job,) = (each for each in GITLAB.values() if isinstance(each, dict))
    environment, install, *prepare, gate = job["script"]
    assert environment == "python3 -m venv .eyelevel"
    assert install == ".eyelevel/bin/pip install --quiet wheels/eyelevel-*.whl"
    (runner.workspace / ".eyelevel").symlink_to(installed.kept / "eyelevel")
    done = runner.block("\n".join(prepare), CI_MERGE_REQUEST_TARGET_BRANCH_NAME="main")
    assert done.returncode == 0 and (runner.workspace / "before" / "server.py").exists(), done
    (runner.workspace / "ci" / "plan.toml").unlink()
    done = runner.block(gate)  # it is understood as far as the plan
    assert done.returncode == 2 and "no plan file `ci/plan.toml`" in done.stderr


def repository(runner: Runner) -> None:
    """A server's, whose base is at its origin; the example's plan, with fewer loads nearby."""
    plan = (FILES / "plan.toml").read_text("utf-8")
    near = '[{ name = "near", base = "dsl", rtt_ms_min = "4 ms" }]'
    plan = plan.replace("objects=20", "objects=4").replace('["lte"]', near)
    plan = plan.replace("blocks = 12", "blocks = 6").replace('"python3"', f'"{sys.executable}"')
    # The recipe's library is in this environment, which a confined server sees where it is named.
    plan = plan.replace('protocols = ["h3"]', f'protocols = ["h3"], paths = ["{sys.prefix}"]')
    work = runner.workspace
    (work / "ci").mkdir()
    (work / "ci" / "plan.toml").write_text(plan)
    shutil.copy(SERVER, work / "server.py")
    at_origin(runner, "server.py")


def at_origin(runner: Runner, *files: str) -> None:
    """Commit files of the workspace and make a repository of it that is its origin."""
    name = "-c user.name=x -c user.email=x@x.example"
    done = runner.block(
        f"git init --quiet --initial-branch main . && git add {' '.join(files)} && "
        f"git {name} commit --quiet -m one && git clone --quiet --bare . ../origin && "
        f"git remote add origin ../origin"
    )
    assert done.returncode == 0, done.stderr


def test_what_is_no_shell_names_what_there_is():
    """Inputs that a workflow gives are the action's; outputs are of a step that is there."""
    gate = next(s for s in WORKFLOW["jobs"]["gate"]["steps"] if s.get("name") == "Gate")
    compare = next(s for s in PAGES["jobs"]["pages"]["steps"] if s.get("name") == "Compare")
    required = {name for name, each in ACTION["inputs"].items() if each.get("required")}
    given: dict[str, Any]
    for given in (gate["with"], compare["with"]):
        assert required <= set(given) <= set(ACTION["inputs"])
    ids = {step.get("id") for step in STEPS.values()}
    for output in ACTION["outputs"].values():
        assert re.fullmatch(r"\$\{\{ steps\.(\w+)\.outputs\.\w+ \}\}", output["value"])[1] in ids
    kept = STEPS["Keep the report"]
    assert kept["if"] == "always()" and "${{ inputs.out }}/run/report.html" in kept["with"]["path"]
