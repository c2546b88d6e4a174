"""The files of docs/ci: their shell, run as a runner runs it, with the real command and real loads.

A runner's own part is small: it sets variables, starts `bash -eo pipefail` for each block, and
adds to PATH what a block wrote into $GITHUB_PATH. The wheel is a small one whose command is this
tree's; that the real one installs is tested with it.
"""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

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
SERVER = ROOT / "python" / "eyelevel" / "load" / "recipes" / "h3_aioquic.py"
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
    assert "passed: quic.page_load_time_ms on dsl" in (out / "output.txt").read_text()
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
    assert "now@external.speed_index_ms on near" in (out / "output.txt").read_text()
    assert (out / "run" / "report.html").exists()


class Comments:
    """The comments of a pull or merge request, and a small server in the place of a provider's API.

    It answers as GitHub's and GitLab's documentation has it, in pages, and to one token alone.
    """

    def __init__(self, folder: str, edited: str, method: str, header: tuple[str, str]) -> None:
        self.comments: dict[int, str] = {}
        self.folder, self.edited, self.method, self.header = folder, edited, method, header

    @contextlib.contextmanager
    def serve(self) -> Iterator[str]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Api, self))
        with server, serving(server):
            yield f"http://127.0.0.1:{server.server_address[1]}"

    def answer(self, method: str, url: str, header: str | None, body: str) -> tuple[int, object]:
        parts = urlsplit(url)
        place, _, number = parts.path.rpartition("/")
        if header != self.header[1]:
            return 403, {"message": "Resource not accessible by integration"}
        if method == "GET" and parts.path == self.folder:
            asked = {name: int(value) for name, value in parse_qsl(parts.query)}
            listed = [{"id": each, "body": text} for each, text in self.comments.items()]
            first = (asked["page"] - 1) * asked["per_page"]
            return 200, listed[first : first + asked["per_page"]]
        if method == "POST" and parts.path == self.folder:
            self.comments[len(self.comments)] = body
            return 201, {}
        if (method, place) == (self.method, self.edited) and int(number) in self.comments:
            self.comments[int(number)] = body
            return 200, {}
        return 404, {"message": f"{method} {url}"}


class _Api(BaseHTTPRequestHandler):
    def __init__(self, of: Comments, *given: Any) -> None:
        self.of = of
        super().__init__(*given)

    def do_GET(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(raw)["body"] if raw else ""
        token = self.headers.get(self.of.header[0])
        status, answer = self.of.answer(self.command, self.path, token, body)
        text = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    do_POST = do_PATCH = do_PUT = do_GET  # noqa: N815 (the base class's names)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def serving(server: ThreadingHTTPServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()


def github() -> Comments:
    issues = "/repos/o/r/issues"
    return Comments(
        f"{issues}/5/comments", f"{issues}/comments", "PATCH", ("Authorization", "Bearer t")
    )


def gitlab() -> Comments:
    notes = "/api/v4/projects/8/merge_requests/5/notes"
    return Comments(notes, notes, "PUT", ("PRIVATE-TOKEN", "t"))


def of_github(api: str, token: str = "t") -> dict[str, str]:
    return {
        "GITHUB_API_URL": api, "GITHUB_REPOSITORY": "o/r", "GITHUB_ACTION_PATH": str(FILES),
        "GITHUB_TOKEN": token, "PULL_REQUEST": "5", "REPORT": "https://ci.example/7",
    }  # fmt: skip


def of_gitlab(api: str, token: str = "t") -> dict[str, str]:
    return {
        "CI_API_V4_URL": f"{api}/api/v4", "CI_MERGE_REQUEST_PROJECT_ID": "8",
        "CI_MERGE_REQUEST_IID": "5", "EYELEVEL_TOKEN": token, "CI_JOB_URL": "https://ci.example/7",
    }  # fmt: skip


def writes(given: Mapping[str, str], file: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, FILES / "comment.py", file],
        env=given, capture_output=True, text=True, timeout=TEST_TIMEOUT_S, check=False,
    )  # fmt: skip


@pytest.mark.parametrize(("made", "given"), [(github, of_github), (gitlab, of_gitlab)])
def test_a_comment_is_written_once_and_edited_from_then_on(
    made: Callable[[], Comments], given: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    comments, file = made(), tmp_path / "comment.md"
    # Two pages of others' comments, one of which quotes ours.
    comments.comments = {each: f"> <!-- eyelevel -->\n{each}" for each in range(103)}
    with comments.serve() as api:
        for text, done in (
            ("one \u2212 “\n", "wrote the comment\n"),
            ("two\n", "edited comment 103\n"),
        ):
            file.write_text(f"<!-- eyelevel -->\n\n{text}", encoding="utf-8")
            found = writes(given(api), file)
            assert (found.returncode, found.stdout, found.stderr) == (0, done, "")
            assert list(comments.comments) == [*range(104)]
            assert comments.comments[103].endswith(text)
        found = writes(given(api, token="of another"), file)
        assert found.returncode == 1 and "403 Forbidden; give the token the right" in found.stderr
    assert "of another" not in found.stderr
    found = writes(given("http://127.0.0.1:1"), file)
    assert found.returncode == 1 and found.stderr.count("\n") == 1


def test_without_a_token_gitlabs_job_says_where_the_comment_is(tmp_path: Path) -> None:
    (tmp_path / "comment.md").write_text("x")
    found = writes(of_gitlab("http://127.0.0.1:1", token=""), tmp_path / "comment.md")
    assert found.returncode == 0 and "EYELEVEL_TOKEN is not set" in found.stdout
    assert str(tmp_path / "comment.md") in found.stdout


def test_a_token_goes_nowhere_but_to_the_api(tmp_path: Path) -> None:
    """A redirect leads elsewhere, and is refused."""
    (tmp_path / "comment.md").write_text("x")

    class Elsewhere(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(307)
            self.send_header("Location", f"{other}{self.path}")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    comments = github()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    with comments.serve() as other, server, serving(server):
        found = writes(
            of_github(f"http://127.0.0.1:{server.server_address[1]}"), tmp_path / "comment.md"
        )
    assert found.returncode == 1 and "307" in found.stderr
    assert comments.comments == {}


def page_repository(runner: Runner) -> str:
    """A page's, before and after a change; returns the digest of what was before."""
    work = runner.workspace
    (work / "build.sh").write_text("mkdir -p dist && cp index.html dist/\n")
    (work / "build.sh").chmod(0o755)
    (work / "index.html").write_text("<!doctype html><title>a</title><h1>one</h1>")
    at_origin(runner, "build.sh", "index.html")
    (work / "index.html").write_text("<!doctype html><title>a</title><h1>two</h1><p>more")
    return runner.block("git rev-parse HEAD").stdout.strip()


def shorten(command: str) -> str:
    """A question with as few and as short loads as a verdict needs."""
    assert "ask before.wacz after.wacz --budget 6min --fail-if-slower" in command
    return command.replace("--budget 6min", "--blocks 6 --rtt 4ms --host-wait 0")


def check_comment(text: str, link: str) -> None:
    assert text.startswith("<!-- eyelevel -->\n\n**") and f"]({link})" in text
    # A busy machine has no answer; what a comment has is tested for itself.
    if "too busy to answer" not in text:
        assert "| requests |" in text and "- On rtt 4ms, against itself: before " in text


@pytest.mark.full
@pytest.mark.usefixtures("labs")
def test_a_page_is_compared_with_the_one_before_and_commented_once(runner: Runner):
    page_repository(runner)
    (build,) = (step["run"] for step in PAGES["jobs"]["pages"]["steps"] if "run" in step)
    done = runner.block(build, GITHUB_BASE_REF="main")
    assert done.returncode == 0, done.stdout + done.stderr
    (asked,) = (s["with"] for s in PAGES["jobs"]["pages"]["steps"] if s.get("name") == "Compare")
    done = runner.step("Record both", before=asked["before"], after=asked["after"])
    assert done.returncode == 0, done.stdout + done.stderr
    done = runner.step(
        "Ask eyelevel", command=shorten(asked["command"]), inconclusive=asked["inconclusive"]
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    comment, comments = STEPS["Comment once"], github()
    with comments.serve() as api:
        given = of_github(api)
        assert comment["env"].keys() == {"OUT", "GITHUB_TOKEN", "PULL_REQUEST", "REPORT"}
        for what in ("wrote the comment", "edited comment 0"):
            done = runner.block(comment["run"], OUT="eyelevel-results", **given)
            assert done.returncode == 0 and what in done.stdout, done.stderr
        check_comment(comments.comments[0], "https://ci.example/7")
        assert comments.comments[0] in runner.written("GITHUB_STEP_SUMMARY")
        # A pull request from a fork has no right to comment, which is no failure of the page.
        given["GITHUB_TOKEN"] = "of a fork"
        done = runner.block(comment["run"], OUT="eyelevel-results", **given)
        assert done.returncode == 0 and "::warning::" in done.stdout
    assert list(comments.comments) == [0]


@pytest.mark.full
@pytest.mark.usefixtures("labs")
def test_two_builds_of_a_server_are_recorded_in_turn(runner: Runner):
    for build in ("before", "after it"):
        (runner.workspace / build).mkdir()
        (runner.workspace / build / "index.html").write_text(f"<title>{build}</title><h1>{build}")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    served = f'http://127.0.0.1:{port}/ --serve "python3 -m http.server {port} --directory'
    given = {"before": f'{served} before"', "after": f"{served} 'after it'\""}
    done = runner.step("Record both", **given)
    assert done.returncode == 0, done.stdout + done.stderr
    for name, title in (("before", "before"), ("after", "after it")):
        info = runner.block(f"eyelevel site info {name}.wacz --json")
        assert info.returncode == 0 and f"https://127.0.0.1:{port}/" in info.stdout
        shown = runner.block(f"eyelevel site export {name}.wacz --files {name}-files")
        assert shown.returncode == 0, shown.stderr
        assert title in "".join(
            page.read_text() for page in (runner.workspace / f"{name}-files").rglob("index.html")
        )


@pytest.mark.full
@pytest.mark.usefixtures("labs")
def test_gitlabs_job_compares_pages_and_comments_once(installed: Runner, runner: Runner):
    base = page_repository(runner)
    work = runner.workspace
    (work / ".eyelevel").symlink_to(installed.kept / "eyelevel")
    (work / "ci").mkdir()
    shutil.copy(FILES / "comment.py", work / "ci")
    job = GITLAB["page speed"]
    environment, install, *script, comment, end = job["script"]
    assert environment == "python3 -m venv .eyelevel"
    assert install == ".eyelevel/bin/pip install --quiet wheels/eyelevel-*.whl"
    assert end == 'exit "$status"'
    comments = gitlab()
    with comments.serve() as api:
        given = job["variables"] | of_gitlab(api) | {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base}
        done = runner.block(shorten("\n".join([*script, comment, end])), **given)
        assert done.returncode in (0, 1), done.stdout + done.stderr
        assert "wrote the comment" in done.stdout, done.stderr
        text = comments.comments[0]
        check_comment(text, "https://ci.example/7/artifacts/file/eyelevel-results/run/report.html")
        assert (work / "eyelevel-results" / "comment.md").read_text("utf-8") == text
        # The next pipeline; one without a token; one that may not comment.
        for status, token, said in (
            (0, "t", "edited comment 0"), (3, "", "EYELEVEL_TOKEN is not set"),
            (1, "of another", "the artifact has comment.md"),
        ):  # fmt: skip
            given["EYELEVEL_TOKEN"] = token
            done = runner.block(f"status={status}\n{comment}\n{end}", **given)
            assert done.returncode == status and said in done.stdout, done.stderr
    assert list(comments.comments) == [0]


def test_gitlabs_script_finds_the_build_before_and_asks_for_the_plan(
    installed: Runner, runner: Runner
):
    repository(runner)
    environment, install, *prepare, gate = GITLAB["page loads"]["script"]
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
