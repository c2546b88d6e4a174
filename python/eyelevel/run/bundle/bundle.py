"""Pack a run and its inputs into one file, laid out as in spec/run-record.md.

The files that a bundle may contain, by name: one list for packing and unpacking.

Find a run's inputs for its bundle: recordings, and files of its networks.

A run's `plan.json` has the digests of its inputs and the plan's text, which names their paths,
relative to the folder in which it was run.
"""

import hashlib
import io
import json
import os
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from importlib.metadata import distributions
from pathlib import Path, PurePosixPath

from eyelevel.analysis.run_files import read_environment, read_stopped, read_stored_plan
from eyelevel.analysis.trials.table import TABLE_FILE
from eyelevel.base.errors import LabError, PlanError, StoreError
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.json_types import JsonMapping
from eyelevel.load.traces import read_stages, read_trace_file
from eyelevel.plan.edits import Edit, parse_change
from eyelevel.plan.networks.presets import find_recorded_pair
from eyelevel.plan.plan import Plan
from eyelevel.plan.plan_json import Recording, StoredPlan
from eyelevel.plan.synthetic_site import is_synthetic, parse_synthetic
from eyelevel.plan.trials import recording_key
from eyelevel.sites.edits import derive
from eyelevel.sites.recorded import RecordedSite, matching, open_site, recording_name
from eyelevel.store.directory import ENVIRONMENT_FILE, PLAN_FILE, iterate_trials
from eyelevel.store.disk import whole_file, writing
from eyelevel.store.machines import read_machines


@dataclass(frozen=True)
class RunInputs:
    """The inputs of a run: `sites` by name, `files` of networks by SHA-256, `locks` by name, and
    variants' `recordings`, edited, by variant and site (`recording_key`)."""

    sites: Mapping[str, RecordedSite]
    files: Mapping[str, Path]
    locks: Mapping[str, bytes] = field(default_factory=lambda: locks())
    recordings: Mapping[str, RecordedSite] = field(default_factory=dict)


def find_inputs(directory: Path, given: Sequence[str] = ()) -> RunInputs:
    """Find all inputs of the run in `directory`; `given` are recordings in other places.

    A file at a known path with another digest is not used. The edits of variants are made again, so
    that their files must be there. Raises StoreError for a missing input, PlanError or LabError for
    a `given` recording that cannot be opened.
    """
    stored = read_stored_plan(directory)
    refuse_builds(stored.plan, f"bundling {directory}")
    where = Source(f"{directory / PLAN_FILE}: the plan's text", PLAN, plan_error)
    source = parse_toml(stored.plan.source, where) if stored.plan.source else {}
    return RunInputs(
        sites=_sites(directory, stored, source, given),
        files=_files(directory, stored.plan, source),
        recordings=_recordings(directory, stored, source, given),
    )


def refuse_builds(plan: Plan, attempt: str) -> None:
    """Raise StoreError for a plan of live builds or of a browser by its path: no bundle holds
    either, and nobody else's program may be run."""
    changes = [each.browser for each in plan.variants if each.browser]
    builds = [plan.browser.chromium, *(each.chromium for each in changes)]
    if build := next(filter(None, builds), None):
        raise StoreError(
            f"{attempt}: the plan names the browser {build}, which no bundle holds; set "
            "EYELEVEL_CHROMIUM instead of `chromium`, and bundle a run without it"
        )
    if live := [variant.name for variant in plan.variants if variant.live]:
        raise StoreError(
            f"{attempt}: the variant `{live[0]}` is a live build, which no bundle holds; record "
            "its pages with `eyelevel record`, and bundle a run of the recordings"
        )


def _sites(
    directory: Path, stored: StoredPlan, source: JsonMapping, given: Sequence[str]
) -> dict[str, RecordedSite]:
    by_digest = {site.digest: site for site in map(open_site, given)}
    places = {_name(place): place for place in _places(source)}
    sites_by_name = {}
    for recording in stored.recordings:
        name, digest = recording.name, recording.digest
        if digest not in by_digest:
            seen, why = _open(name, places.get(name))
            if seen is None or seen.digest != digest:
                raise StoreError(
                    f"bundling {directory}: the recording of `{name}` ({digest}) is missing: "
                    f"{why}; run this in the folder where the plan was run, or name its file "
                    "with --site"
                )
            by_digest[digest] = seen
        sites_by_name[name] = by_digest[digest]
    return sites_by_name


def _recordings(
    directory: Path, stored: StoredPlan, source: JsonMapping, given: Sequence[str]
) -> dict[str, RecordedSite]:
    """Return the recordings of variants that have some of their own, or edits."""
    of_sites = {_name(place): place for place in _places(source)}
    found = {}
    for place, variant in enumerate(stored.plan.variants):
        own = source["variants"][place].get("recordings")
        edits = [edit for text in variant.edits if (edit := parse_change(text))]
        for number, wanted in enumerate(stored.variant_recordings[variant.name]):
            site = stored.plan.sites[number]
            named = own[number] if own else of_sites.get(site)
            key = recording_key(variant.name, site)
            found[key] = _find_edited(
                directory, key, wanted, [*filter(None, [named]), *given], edits
            )
    return found


def _find_edited(
    directory: Path, key: str, wanted: Recording, places: Sequence[str], edits: Sequence[Edit]
) -> RecordedSite:
    """Return the recording with the digest of `wanted`, which the edits make of one of `places`."""
    reasons = []
    for place in places:
        try:
            seen = open_site(place)
            if edits:
                seen = open_site(str(derive(seen.path, edits).path))
        except (PlanError, LabError) as error:
            reasons.append(f"`{place}`: {error}")
            continue
        if seen.digest == wanted.digest:
            # A recording in another place may have another name; the plan has the one it had.
            return replace(seen, name=wanted.name)
        reasons.append(f"`{place}` {'edited ' if edits else ''}is another recording")
    why = "; ".join(reasons) or "no site of the plan has its name here"
    raise StoreError(
        f"bundling {directory}: the recording of `{key}` ({wanted.digest}) is missing: {why}; "
        "run this in the folder where the plan was run, or name its file with --site"
    )


def _open(name: str, place: str | None) -> tuple[RecordedSite | None, str]:
    """Return the site at `place`, or None, and the reason to report if it is not the run's."""
    if place is None:
        return None, f"no site of the plan is named `{name}` here"
    try:
        return open_site(place), f"`{place}` has been replaced by another one"
    except (PlanError, LabError) as error:
        return None, f"`{place}` cannot be opened ({error})"


def _places(source: JsonMapping) -> Iterator[str]:
    """Yield the sites of a plan's text; patterns expand to the files that match now."""
    for site in source.get("sites", ()):
        yield from [site] if is_synthetic(site) else matching(site) or [site]


def _name(place: str) -> str:
    return parse_synthetic(place).name if is_synthetic(place) else recording_name(Path(place))


def _files(directory: Path, plan: Plan, source: JsonMapping) -> dict[str, Path]:
    wanted = {
        digest: network.name for network in plan.networks for digest in network.file_digests()
    }
    if not wanted:
        return {}
    files_by_digest: dict[str, str] = {}
    problems = []
    for network in source.get("networks", ()):
        for key, value in network.items() if isinstance(network, dict) else ():
            try:
                named: list[str] = [value] if key in ("trace_down", "trace_up") else []
                if key == "traces":
                    named += find_recorded_pair(value, str(network.get("base")))
                for name in named:
                    trace = read_trace_file(name)
                    files_by_digest[trace.sha256] = trace.file
                if key in ("down", "up"):
                    files_by_digest.update(read_stages(value).files)
            except (ValueError, OSError) as error:
                problems.append(str(error))
    for digest, network in wanted.items():
        if digest not in files_by_digest:
            why = f" ({'; '.join(problems)})" if problems else ""
            raise StoreError(
                f"bundling {directory}: a file of the network `{network}`, with the SHA-256 "
                f"{digest}, is not where the plan names it{why}; restore it, or run this in the "
                "folder where the plan was run"
            )
    return {digest: Path(files_by_digest[digest]) for digest in wanted}


INSTALLED = "installed.txt"
LOCK_FILES = ("requirements.lock", "Cargo.lock")
"""The lock files of the Python and Rust halves in a source tree; a wheel is identified by its
version."""

_SOURCE_TREE = Path(__file__).parents[4]


def locks() -> dict[str, bytes]:
    """Return the content of each lock file by its name.

    `installed.txt` has the Python packages of this environment in pip's format.
    """
    names = {
        distribution.name: distribution.version
        for distribution in distributions()
        if distribution.name
    }
    installed = "".join(f"{name}=={version}\n" for name, version in sorted(names.items()))
    # A wheel may be installed inside another project's tree, with locks of its own.
    is_ours = (_SOURCE_TREE / "crates" / "lab").is_dir()
    files = [_SOURCE_TREE / name for name in LOCK_FILES if is_ours]
    results = {file.name: file.read_bytes() for file in files}
    return {INSTALLED: installed.encode(), **results}


# The earliest date of ZIP; a constant date makes bundles reproducible.
_DATE = (1980, 1, 1, 0, 0, 0)


def write_bundle(directory: Path, inputs: RunInputs, file: Path) -> int:
    """Pack the run in `directory` with its inputs, and return the number of files.

    Every record is read and checked first. Raises StoreError for a damaged record, and if a site is
    not the recording that the plan names.
    """
    stored = read_stored_plan(directory)
    _check(directory)
    members: list[tuple[str, Path | bytes]] = []
    for recording in stored.recordings:
        name = recording.name
        site = inputs.sites.get(name)
        if site is None or site.digest != recording.digest:
            raise StoreError(
                f"bundling {directory}: the recording of `{name}` with the digest "
                f"{recording.digest} is missing; name its file with --site"
            )
        members.append((f"sites/{name}{_kind(site.path)}", site.path))
    for key, site in sorted(inputs.recordings.items()):
        members.append((f"variants/{key}/{site.name}{_kind(site.path)}", site.path))
    members += [(f"files/{digest}", path) for digest, path in sorted(inputs.files.items())]
    members += [(f"locks/{name}", content) for name, content in sorted(inputs.locks.items())]
    members += sorted(_members(directory))
    digests = {name: _sha256(content) for name, content in members}
    manifest = {"version": BUNDLE_VERSION, "plan_hash": stored.hash, "files": digests}
    with (
        writing(file),
        whole_file(file) as stream,
        zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as pack,
    ):
        pack.writestr(zipfile.ZipInfo(MANIFEST, _DATE), json.dumps(manifest))
        for name, content in members:
            entry = zipfile.ZipInfo(name, _DATE)
            packed = PurePosixPath(name).suffix in PACKED_SUFFIXES
            entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
            with _open_member(content) as source, pack.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)
    return len(members)


def _kind(recording: Path) -> str:
    """Return the end of a recording's file name that has its format."""
    return recording.name.removeprefix(recording_name(recording))


def _members(directory: Path) -> Iterator[tuple[str, Path]]:
    """Yield the run's own files, except for links, hidden files and the cached table.

    Links may lead anywhere, and the table can be recomputed.
    """
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder) / name
            if name.startswith(".") or name == TABLE_FILE or path.is_symlink():
                continue
            if path.is_file():
                yield f"run/{path.relative_to(directory).as_posix()}", path


def _check(directory: Path) -> None:
    """Check each record and document by its schema, so that readers will accept the bundle."""
    for trial in iterate_trials(directory):
        trial.frames()
    if (directory / ENVIRONMENT_FILE).exists():
        read_environment(directory)
    read_stopped(directory)
    read_machines(directory)


def _sha256(content: Path | bytes) -> str:
    with _open_member(content) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _open_member(content: Path | bytes) -> io.BytesIO | io.BufferedReader:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")


BUNDLE_VERSION = 1
MANIFEST = "bundle.json"
PLAN_MEMBER = f"run/{PLAN_FILE}"

TRIAL_FILE = (
    r"[0-9a-z]{1,64}/"
    r"(?:record\.json\.gz|messages\.json\.gz|frames\.npz|after-load-\d{1,3}\.npz"
    r"|netlog\.json\.gz|trace\.json\.gz"
    r"|logs/[A-Za-z0-9][A-Za-z0-9._-]{0,99})"
)
"""A regular expression for the files of a trial, including the folder that its hash names."""
PACKED_SUFFIXES = (".npz", ".webp", ".wacz", ".gz")
"""The suffixes of files that do not compress further."""
_TAKEN = re.compile(
    rf"run/(?:(?:plan|environment|stop)\.json|trials/{TRIAL_FILE}|pictures/[0-9a-f]{{20}}\.webp"
    r"|machines/[0-9a-z-]{1,64}\.json)"
    r"|sites/[^./\\][^/\\]{0,220}"
    r"|variants/[A-Za-z0-9][A-Za-z0-9 ._+@-]{0,63}(?:/[^./\\][^/\\]{0,220}){2}"
    r"|files/[0-9a-f]{64}"
    r"|locks/[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
)
_FOLDERS = ("run", "sites", "variants", "files", "locks")


class Member(Enum):
    """The treatment of a file in a bundle."""

    TAKEN = "unpacked"
    LEFT = "left where it is"
    """A file that the sender derived from the records, such as a report. Readers must know its
    origin."""
    ASTRAY = "refused"
    """A file outside of the directory, or in a folder that bundles do not have."""


def kind_of(name: str) -> Member:
    """Return the treatment of a file by its name in the bundle."""
    parts = PurePosixPath(name).parts
    plain = name.isprintable() and "\\" not in name and not name.startswith("/")
    if not plain or len(parts) < 2 or parts[0] not in _FOLDERS or "/".join(parts) != name:
        return Member.ASTRAY
    if any(part in ("", ".", "..") for part in parts):
        return Member.ASTRAY
    if _TAKEN.fullmatch(name):
        return Member.TAKEN
    return Member.LEFT if parts[0] == "run" else Member.ASTRAY
