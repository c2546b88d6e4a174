"""The wheel, installed in an environment and a folder that know nothing of the repository.

Its dependencies are linked from this environment, since fetching them again would test the index
and not the wheel: only those that the wheel declares, so that one that is forgotten is missed.
"""

import json
import os
import shutil
import subprocess
import sysconfig
import venv
import zipfile
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from repository import ROOT
from timeouts import TEST_TIMEOUT_S

from scripts.shipping.release import WHEEL_BYTES_MAX

pytestmark = pytest.mark.full

BUILD_S = 1800.0
FRESH_S = 900.0
NOT_TO_BE_HAD = 75
"""What scripts/fresh-machine exits with where an empty Debian cannot be made."""
OUTCOMES_OF_A_LOAD = {"ok", "late-packets", "starved"}
"""A busy machine is not what this is about."""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel as `make wheel` builds it."""
    maturin = Path(sysconfig.get_path("scripts")) / "maturin"
    if not maturin.exists() or shutil.which("cargo") is None:
        pytest.skip("a wheel needs maturin in this environment and cargo on the PATH")
    out = tmp_path_factory.mktemp("dist")
    command = [maturin, "build", "--release", "--locked", "--quiet", "--out", out]
    subprocess.run(command, cwd=ROOT, timeout=BUILD_S, check=True)
    (file,) = out.glob("*.whl")
    return file


class Installed:
    """An environment with the wheel, and an empty folder to work in."""

    def __init__(self, wheel: Path, root: Path) -> None:
        self.folder = root / "elsewhere"
        self.folder.mkdir()
        environment = root / "environment"
        venv.create(environment, with_pip=True)
        self.scripts = environment / "bin"
        self.run("pip", "install", "--quiet", "--no-index", "--no-deps", str(wheel))
        (packages,) = environment.glob("lib/*/site-packages")
        linked = root / "dependencies"
        link_dependencies(linked)
        (packages / "dependencies.pth").write_text(f"{linked}\n", encoding="utf-8")

    def run(self, *command: str) -> str:
        """What a command prints that ends well."""
        done = self.ended(*command)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ended(self, *command: str) -> subprocess.CompletedProcess[str]:
        """How a command ends and what it prints, as a user has it with only this environment."""
        return subprocess.run(
            [self.scripts / command[0], *command[1:]],
            cwd=self.folder,
            env={
                "PATH": f"{self.scripts}:/usr/sbin:/usr/bin:/sbin:/bin",
                "HOME": str(self.folder),
                "LANG": "C.UTF-8",
                **{key: os.environ[key] for key in ("DISPLAY", "TMPDIR") if key in os.environ},
            },
            capture_output=True,
            text=True,
            timeout=TEST_TIMEOUT_S,
            check=False,
        )


def link_dependencies(folder: Path) -> None:
    """Make `folder` hold what the wheel declares to need, and what that needs in turn."""
    folder.mkdir()
    for name in sorted(declared("eyelevel") - {"eyelevel"}):
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}:
            if not (folder / top).is_symlink():
                (folder / top).symlink_to(Path(str(found.locate_file(top))))


def declared(name: str, known: set[str] | None = None) -> set[str]:
    known = set() if known is None else known
    if name not in known:
        try:
            requirements = distribution(name).requires or ()
        except PackageNotFoundError:  # of another platform, or of an extra
            return known
        known.add(name)
        for requirement in map(Requirement, requirements):
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                declared(requirement.name, known)
    return known


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installed]:
    """The wheel, installed."""
    yield Installed(wheel, tmp_path_factory.mktemp("wheel"))


def test_it_has_what_is_needed_and_no_tests(wheel: Path):
    assert wheel.stat().st_size <= WHEEL_BYTES_MAX
    names = zipfile.ZipFile(wheel).namelist()
    shipped = {name for name in names if name.startswith("eyelevel/sites/shipped/")}
    sites = {name.removesuffix(".wacz") for name in shipped if name.endswith(".wacz")}
    assert len(sites) >= 12
    beside = (".wacz", ".info.json", ".LICENSES.md")
    assert shipped == {site + kind for site in sites for kind in beside}
    assert "eyelevel/py.typed" in names
    assert [each for each in names if each.endswith(".dist-info/licenses/THIRD-PARTY-NOTICES.txt")]
    assert not [each for each in names if Path(each).name.startswith(("test_", "conftest"))]
    folders = {name.partition("/")[0] for name in names}
    data = f"eyelevel-{version('eyelevel')}"
    assert folders == {"eyelevel", f"{data}.data", f"{data}.dist-info"}


def test_an_empty_debian_takes_it(wheel: Path):
    """As somebody new has it: from the package index, as an ordinary user, with Debian's Python."""
    done = subprocess.run(
        [ROOT / "scripts/fresh-machine", "bookworm", "install", "--user", wheel],
        capture_output=True,
        text=True,
        timeout=FRESH_S,
        check=False,
    )
    if done.returncode == NOT_TO_BE_HAD:
        pytest.skip(done.stderr.strip().rpartition("\n")[2] or "no empty Debian can be had")
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"eyelevel {version('eyelevel')}" in done.stdout, done.stdout


def test_nothing_of_the_repository_is_reached(installed: Installed):
    code = "import eyelevel, json, sys; print(json.dumps([eyelevel.__file__, *sys.path]))"
    package, *places = json.loads(installed.run("python", "-c", code))
    assert Path(package).is_relative_to(installed.scripts.parent)
    assert not [place for place in places if Path(place).is_relative_to(ROOT)]
    first, build, _ = installed.run("eyelevel", "--version").splitlines()
    assert first == f"eyelevel {version('eyelevel')}"
    # No tree is around it, and the one that it was built in did not say its commit.
    assert build.startswith("build: no commit recorded, ") and build.endswith(", release")


def test_sites_are_listed_and_made(installed: Installed):
    listed = json.loads(installed.run("eyelevel", "list", "sites", "--json"))
    assert {"agency", "dashboard"} <= {site["name"] for site in listed}
    assert all(Path(site["path"]).is_relative_to(installed.scripts.parent) for site in listed)
    installed.run("eyelevel", "site", "synth", "--like", "das2014", "--count", "1", "--out", "made")
    (made,) = (installed.folder / "made").glob("*.wacz")
    assert json.loads(installed.run("eyelevel", "site", "info", str(made), "--json"))["objects"]


def test_a_network_is_looked_up_for_a_shell(labs: None, installed: Installed):
    assert installed.run("eyelevel", "path", "--network", "dsl", "--", "echo", "inside") == (
        "inside\n"
    )


def test_the_machine_is_examined_and_a_site_is_loaded(labs: None, installed: Installed):
    findings = json.loads(installed.run("eyelevel", "doctor", "--json"))
    assert findings[0] == {
        "name": "eyelevel",
        "state": "ok",
        "found": version("eyelevel"),
        "remedy": "",
    }
    # A busy machine may starve the load, and then the command ends with 1, only then.
    done = installed.ended("eyelevel", "load", "agency", "--json")
    (load,) = json.loads(done.stdout)
    assert done.returncode == int(load["outcome"] != "ok"), done.stderr
    assert load["outcome"] in OUTCOMES_OF_A_LOAD, load["outcome_detail"]


def test_the_first_comparison_runs(labs: None, installed: Installed):
    # A busy machine changes what counts, not whether it works: nothing waits for a quiet one.
    now = ("--host-wait", "0", "--retries", "0")
    installed.run("eyelevel", "run", "quickstart", "--scale", "small", "--out", "quickstart", *now)
    assert (installed.folder / "quickstart" / "report.html").stat().st_size
    installed.run("eyelevel", "bundle", "quickstart", "--out", "quickstart.bundle")
    names = zipfile.ZipFile(installed.folder / "quickstart.bundle").namelist()
    assert [name for name in names if name.startswith("locks/")] == ["locks/installed.txt"]
