"""The cache of the level's runs, for this build, kernel, browser and pair of stacks.

Each run is appended as a line when it ends, so that an interrupted measurement continues where it
stopped.
"""

import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import cache
from pathlib import Path

import eyelevel
from eyelevel.analysis.stats.estimate import Estimate
from eyelevel.base.errors import OutsideError
from eyelevel.base.from_outside.files import lines_of, read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import KEPT, LINE_BYTES_MAX
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.browser.chromium.process import find_executable
from eyelevel.calibration.level.classes import SCENARIOS
from eyelevel.calibration.level.generated_page import items
from eyelevel.calibration.level.rows import Effect, Run
from eyelevel.calibration.validation.stacks import build
from eyelevel.lab.binary import run_tool
from eyelevel.lab.confinement import is_unsafe
from eyelevel.load.servers.recipes import find_recipe_version
from eyelevel.plan.stacks import Stack
from eyelevel.store.disk import write_whole

CACHE_VERSION = 1
NAME_HEX = 20

Effects = dict[str, Effect]
"""The effects on a load, by aspect."""

VERSION_TIMEOUT_S = 20.0
MEASURING = (
    "analysis/metrics",
    "analysis/pathlog",
    "browser",
    "calibration",
    "lab",
    "load",
    "plan",
    "run",
    "sites",
)
"""The packages whose code affects a run: in a source tree, code may change within one version."""


@cache
def _realtime_allowed() -> bool:
    return bool(run_tool(["doctor"])["realtime_allowed"])


class RunCache:
    """The runs of one pair of stacks on this machine, in either order."""

    def __init__(self, stacks: tuple[Stack, Stack]) -> None:
        """`stacks`: only their settings identify them, not the names of stacks and presets."""
        settings = [_list_settings(stack) for stack in stacks]
        self._turned = _digest(settings[0]) > _digest(settings[1])
        determined = {
            "cache": CACHE_VERSION,
            "build": build(),
            "code": code_digest(),
            "browser": browser_version(),
            "confined": not is_unsafe(),
            # Without it the lab reserves a core, which browsers then lack.
            "realtime_allowed": _realtime_allowed(),
            "stacks": settings[::-1] if self._turned else settings,
            "scenarios": [asdict(scenario) for scenario in SCENARIOS],
            "page": _page_digest(),
        }
        self.key = _digest(determined)
        self.file = folder() / f"{self.key}.jsonl"

    def runs(self) -> list[Run]:
        """Return all runs in the order of measurement; incomplete lines are left out."""
        try:
            source = Source(str(self.file), KEPT)
            lines = [line for _, line in lines_of(self.file, source, LINE_BYTES_MAX)]
        except OutsideError:
            return []
        kept = (run for line in lines if (run := _run_of(line)) is not None)
        return [replace(run, side=self._side(run.side)) for run in kept]

    def _side(self, side: int) -> int:
        """Return a side's number in the file for that of the pair, and the reverse."""
        return 1 - side if self._turned else side

    def add(self, run: Run) -> None:
        """Append one run."""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(
            {"scenario": run.scenario, "side": self._side(run.side), "values": dict(run.values)}
        )
        with self.file.open("a", encoding="utf-8") as file:
            # An earlier incomplete line must not damage this one.
            file.write("\n" + line + "\n")

    def forget(self) -> None:
        """Delete the cached runs and effects."""
        self.file.unlink(missing_ok=True)
        self._effects.unlink(missing_ok=True)

    @property
    def _effects(self) -> Path:
        return folder() / f"{self.key}.effects.json"

    def effects(self) -> Effects:
        """Return the cached effects of each aspect; empty if none were measured."""
        try:
            source = Source(str(self._effects), KEPT)
            document = parse_object(read_bytes(self._effects, source), source)
            return {
                aspect: {name: Estimate.of_json(ms) for name, ms in moved.items()}
                for aspect, moved in document.items()
            }
        except (OutsideError, ValueError, KeyError, TypeError, AttributeError):
            return {}  # absent, or in another form: measured again

    def keep_effects(self, found: Effects) -> None:
        """Write the effects atomically beside the runs."""
        self._effects.parent.mkdir(parents=True, exist_ok=True)
        document = {
            aspect: {name: ms.as_json() for name, ms in moved.items()}
            for aspect, moved in found.items()
        }
        write_whole(self._effects, json.dumps(document).encode())


def _list_settings(stack: Stack) -> JsonMapping:
    """Return a stack's settings, and the version of the program that a recipe starts."""
    server = stack.external_server
    version = find_recipe_version(server.command) if server else None
    return {**stack.settings(), **({"program": version} if version else {})}


def browser_version() -> str:
    """Return the browser's own version text; empty without a browser."""
    executable = shutil.which(find_executable())
    return "" if executable is None else _version_of(executable)


@cache
def _version_of(executable: str) -> str:
    try:
        done = subprocess.run(
            [executable, "--version"],
            capture_output=True,
            text=True,
            timeout=VERSION_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip().split("\n", 1)[0]


@cache
def code_digest() -> str:
    """Return the digest of the Python code that measures."""
    return digest_of(Path(eyelevel.__file__).parent, MEASURING)


def digest_of(root: Path, packages: Sequence[str]) -> str:
    """Return the digest of the Python files in these packages, without tests."""
    files = (file for name in packages for file in sorted((root / name).rglob("*.py")))
    texts = (file.read_bytes() for file in files if not file.name.startswith("test_"))
    return hashlib.sha256(b"\0".join(texts)).hexdigest()[:NAME_HEX]


def folder() -> Path:
    """Return the folder with the runs of all pairs."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "eyelevel" / "level"


def _page_digest() -> str:
    return _digest([[item.url, hashlib.sha256(item.body).hexdigest()] for item in items()])


def _digest(value: Sequence[object] | JsonMapping) -> str:
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:NAME_HEX]


def _run_of(line: str) -> Run | None:
    try:
        document = parse_object(line.encode(), Source("a run", KEPT))
        run = Run(str(document["scenario"]), int(document["side"]), dict(document["values"]))
    except (OutsideError, ValueError, KeyError, TypeError):
        return None
    return run
