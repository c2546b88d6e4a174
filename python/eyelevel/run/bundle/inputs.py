"""Find a run's inputs for its bundle: recordings, and files of its networks.

A run's `plan.json` has the digests of its inputs and the plan's text, which names their paths,
relative to the folder in which it was run.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import distributions
from pathlib import Path

from eyelevel.analysis.run_files import read_plan_document
from eyelevel.base.errors import LabError, PlanError, StoreError
from eyelevel.base.from_outside.limits import PLAN
from eyelevel.base.from_outside.source import Source, plan_error
from eyelevel.base.from_outside.toml_text import parse_toml
from eyelevel.base.json_types import JsonMapping
from eyelevel.load.traces import read_stages, read_trace_file
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.recorded_links import find_recorded_pair
from eyelevel.plan.synthetic_site import is_synthetic, parse_synthetic
from eyelevel.sites.recorded import RecordedSite, matching, open_site, recording_name
from eyelevel.store.directory import PLAN_FILE


@dataclass(frozen=True)
class RunInputs:
    """The inputs of a run: `sites` by name, `files` of networks by SHA-256, `locks` by name."""

    sites: Mapping[str, RecordedSite]
    files: Mapping[str, Path]
    locks: Mapping[str, bytes] = field(default_factory=lambda: locks())


def find_inputs(directory: Path, given: Sequence[str] = ()) -> RunInputs:
    """Find all inputs of the run in `directory`; `given` are recordings in other places.

    A file at a known path with another digest is not used. Raises StoreError for a missing input
    and for a plan with variants, PlanError or LabError for a `given` recording that cannot be
    opened.
    """
    document = read_plan_document(directory)
    if document.get("variants"):
        raise StoreError(
            f"bundling {directory}: a bundle has one recording for each site, and the plan has "
            "`variants`; pass on the plan with their recordings instead"
        )
    where = Source(f"{directory / PLAN_FILE}: the plan's text", PLAN, plan_error)
    source = parse_toml(document["source"], where) if document.get("source") else {}
    return RunInputs(
        sites=_sites(directory, document, source, given),
        files=_files(directory, document, source),
    )


def _sites(
    directory: Path, document: JsonMapping, source: JsonMapping, given: Sequence[str]
) -> dict[str, RecordedSite]:
    by_digest = {site.digest: site for site in map(open_site, given)}
    places = {_name(place): place for place in _places(source)}
    sites_by_name = {}
    for wanted in document["sites"]:
        name, digest = wanted["name"], wanted["digest"]
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


def _files(directory: Path, document: JsonMapping, source: JsonMapping) -> dict[str, Path]:
    wanted = {
        digest: network["name"]
        for network in document["networks"]
        for digest in Network.read(network).file_digests()
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
    contents = {file.name: file.read_bytes() for file in files}
    return {INSTALLED: installed.encode(), **contents}
