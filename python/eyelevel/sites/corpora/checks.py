"""Store the checks of a corpus's recordings next to them: whether each is fit to be measured."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.errors import CorpusError
from eyelevel.base.from_outside.files import read_bytes
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import CHECKED
from eyelevel.base.from_outside.source import Source
from eyelevel.base.json_types import JsonMapping
from eyelevel.sites.check import RULES
from eyelevel.sites.corpora.attributes import SiteAttributes
from eyelevel.store.disk import write_whole

FOLDER = "checks"
"""Folder of checks in a corpus's folder, one file per recording; for a list it is `LIST.checks`."""
VERSION = 1
LOADS_MIN = 3
"""Minimum number of loads for a verdict: one over each HTTP version."""


@dataclass(frozen=True)
class Check:
    """Result of checking one recording."""

    name: str
    digest: str
    """Digest of the checked recording."""
    loads: int
    """Number of loads made; 0 if the browser failed."""
    differences: int
    """Number of exchanges, over all protocols, whose replay differed from the recording."""
    failure: str
    """Why the page cannot be measured; "" if it can."""
    rules: str = RULES
    """Version of the rules used; "" for a check from before rules had versions."""

    @property
    def reason(self) -> str:
        """Why the recording is not fit; "" if it is."""
        if self.differences:
            return f"{self.differences} exchanges did not come back as recorded"
        return self.failure

    @property
    def is_fit(self) -> bool:
        """Whether enough loads found no problem."""
        return not self.reason and self.loads >= LOADS_MIN

    @property
    def is_open(self) -> bool:
        """Whether no problem was found, but by fewer loads than a verdict needs."""
        return not self.reason and self.loads < LOADS_MIN


def folder_of(corpus: str) -> Path:
    """Return the folder of a corpus's checks; a synthetic corpus's is in the working directory."""
    path = Path(corpus)
    return path / FOLDER if path.is_dir() else Path(f"{corpus}.{FOLDER}")


def read_check(folder: Path, name: str) -> Check | None:
    """Return the stored check of a recording, or None. Raises `CorpusError`."""
    file = folder / f"{name}.json"
    if not file.exists():
        return None
    source = Source(str(file), CHECKED, CorpusError)
    kept = parse_object(read_bytes(file, source), source)
    wanted = {"digest": str, "loads": int, "differences": int, "failure": str}
    if kept.get("version") != VERSION or any(
        type(kept.get(key)) is not kind for key, kind in wanted.items()
    ):
        raise source.refusal("no check of a recording")
    rules = kept.get("rules", "")
    return Check(
        name,
        kept["digest"],
        kept["loads"],
        kept["differences"],
        kept["failure"],
        rules if isinstance(rules, str) else "",
    )


def keep_check(folder: Path, check: Check, details: JsonMapping) -> None:
    """Write a check with the `details` of `site check --json`. Raises `OSError`."""
    folder.mkdir(parents=True, exist_ok=True)
    summary = {
        "version": VERSION,
        "digest": check.digest,
        "loads": check.loads,
        "differences": check.differences,
        "failure": check.failure,
        "rules": check.rules,
        "details": details,
    }
    write_whole(folder / f"{check.name}.json", f"{json.dumps(summary, indent=1)}\n".encode())


def fit_alone(corpus: str, sites: Sequence[SiteAttributes]) -> list[SiteAttributes]:
    """Return the recordings with a stored check of the same digest that found them fit.

    Raises `CorpusError` if nothing has been checked, or only by other rules, or by too few loads.
    """
    folder = folder_of(corpus)
    kept = {site.name: read_check(folder, site.name) for site in sites}
    if sites and not any(kept.values()):
        raise CorpusError(
            f"--fit: nothing in {corpus} has been checked; first run: corpus check {corpus}"
        )
    if old := sum(check is not None and check.rules != RULES for check in kept.values()):
        raise CorpusError(
            f"--fit: {old} of {len(kept)} recordings were checked by older rules; first run: "
            f"corpus check {corpus}"
        )
    if few := [name for name, check in kept.items() if check is not None and check.is_open]:
        raise CorpusError(
            f"--fit: {len(few)} of {len(kept)} recordings, such as {few[0]}, were loaded less "
            f"than {LOADS_MIN} times; first run: corpus check {corpus}"
        )
    fit = {name: check.digest for name, check in kept.items() if check is not None and check.is_fit}
    return [site for site in sites if fit.get(site.name) == site.digest]
