"""Find recorded sites: by path, or by the name of a shipped one."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cache
from glob import glob
from pathlib import Path

from eyelevel.base.errors import LabError, PlanError, nearest
from eyelevel.base.json_types import JsonObject
from eyelevel.lab.binary import run_tool
from eyelevel.plan.networks.origin_rtt import places_of
from eyelevel.plan.plan import ARCHIVE_SUFFIXES, is_archive_path
from eyelevel.plan.synthetic_site import is_synthetic, parse_synthetic
from eyelevel.plan.trials import Site, recording_key
from eyelevel.plan.variants import Variant
from eyelevel.sites.synthetic.by_name import make_synthetic

DEFAULT_VIEWPORT_PX = (1280, 720)
"""Viewport for recordings that do not specify one."""

_SHIPPED = Path(__file__).parent / "shipped"
"""Shipped recordings with their contents and licences; `corpus/make.py` makes them."""


@dataclass(frozen=True)
class RecordedSite:
    """A recorded site on disk."""

    name: str
    path: Path
    digest: str
    variants: Mapping[str, "RecordedSite"] = field(default_factory=dict)
    """The recordings that a plan's variants have in its place, by the variants' names."""

    def of_plan(self) -> Site:
        """Return the site as a plan uses it."""
        places = places_of(site_info(self.path).get("origins", ()))
        variants = {name: each.of_plan() for name, each in self.variants.items()}
        return Site(self.name, self.digest, self.body_bytes(), places, variants)

    def recordings(self) -> Iterator["RecordedSite"]:
        """Yield the site's recording, and those that variants have in its place."""
        yield self
        yield from self.variants.values()

    def body_bytes(self) -> float:
        """Return the total bytes of all bodies, as transferred."""
        return float(site_info(self.path).get("body_bytes") or self.path.stat().st_size)


def key_recordings(
    sites: Sequence[RecordedSite], variants: Sequence[Variant]
) -> dict[str, RecordedSite]:
    """Return the recordings that a plan's trials load, by `Trial.recording`."""
    return {
        recording_key(variant, site.name): site.variants.get(variant, site)
        for site in sites
        for variant in [each.name for each in variants] or [""]
    }


def list_shipped() -> dict[str, Path]:
    """Return the paths of the shipped recordings by name."""
    return {path.stem: path for path in sorted(_SHIPPED.glob("*.wacz"))}


def matching(pattern: str) -> list[str]:
    """Return the sites that match a pattern: shipped ones by name, recordings by path; sorted.

    A folder, with a trailing `/`, matches all recordings in and below it except hidden ones, which
    are the drafts of killed commands.
    """
    if pattern.endswith("/"):
        top = Path(pattern)
        files = (file for file in top.rglob("*") if file.name.endswith(ARCHIVE_SUFFIXES))
        return sorted(str(file) for file in files if not _is_hidden(file.relative_to(top)))
    if is_archive_path(pattern):
        return sorted(glob(pattern, recursive=True))  # noqa: PTH207 (a Path has no pattern from "/")
    return [name for name in list_shipped() if fnmatchcase(name, pattern)]


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def open_site(name: str) -> RecordedSite:
    """Open a shipped site by name, a recording by path, or a synthetic site, which is generated.

    Raises `PlanError` for an unknown name and `LabError` for a damaged or missing file.
    """
    if name.lower().startswith(("http://", "https://")):
        raise PlanError(
            [
                f"`{name}` is the URL of a page, not a recording: `eyelevel record URL` makes "
                "one, `eyelevel load URL --live` loads the page itself"
            ]
        )
    if is_synthetic(name):
        try:
            path = make_synthetic(parse_synthetic(name))
        except ValueError as error:
            raise PlanError([str(error)]) from error
    elif is_archive_path(name) or Path(name).is_file():
        path = Path(name)
        if not path.exists() and (near := _find_nearest(path)):
            raise LabError(f"cannot open {name}: there is no such file; did you mean `{near}`?")
    elif name in list_shipped():
        path = list_shipped()[name]
    else:
        known = ", ".join(list_shipped()) or "none"
        raise PlanError(
            [f"there is no recorded site `{name}`; shipped: {known}; or give a WACZ or WARC file"]
        )
    return RecordedSite(recording_name(path), path, site_info(path)["digest"])


def _find_nearest(path: Path) -> str | None:
    """Return the recording beside a missing one whose name is most similar."""
    with contextlib.suppress(OSError):
        names = [each.name for each in path.parent.iterdir() if is_archive_path(each.name)]
        if near := nearest(path.name, names):
            return str(path.with_name(near))
    return None


def recording_name(path: Path) -> str:
    """Return a recording's name in plans and tables: its file name without the suffix."""
    name = path.name
    for suffix in (".gz", ".warc", ".wacz"):
        name = name.removesuffix(suffix)
    return name


def site_info(path: Path) -> JsonObject:
    """Return a recording's description (spec/archive.md).

    Raises `LabError` for a damaged or missing file.
    """
    return _info(str(path.resolve()))


def read_alterations(path: Path) -> list[str]:
    """Return the changes made after the recording, one sentence each; empty for a faithful one."""
    altered: list[str] = site_info(path)["provenance"].get("altered", [])
    return altered


def read_blocked(path: Path) -> tuple[str, ...]:
    """Return what the browser must not ask for, since an edit took it out: URLs, with `*` for any
    characters."""
    return tuple(site_info(path)["provenance"].get("blocked", ()))


@dataclass(frozen=True)
class Screen:
    """The screen on which a page was recorded or is replayed."""

    viewport_px: tuple[int, int] = DEFAULT_VIEWPORT_PX
    mobile: bool = False
    device_scale: float = 1.0
    model: str = ""


def read_screen(path: Path) -> Screen:
    """Return the recording's viewport, or a default one if it has none."""
    provenance = site_info(path)["provenance"]
    width, height = provenance.get("viewport_px") or DEFAULT_VIEWPORT_PX
    return Screen((width, height), provenance.get("mobile", False))


@cache
def _info(path: str) -> JsonObject:
    info: JsonObject = run_tool(["archive", "info", path, "--json"])
    return info
