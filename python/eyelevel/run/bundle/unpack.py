"""Open a bundle: an untrusted file; nothing in it is trusted or executed.

Consent to the commands of a bundle's plan and to the paths that they would see.

An external server that is allowed sees the `paths` of its settings and those in its command, and
its responses are stored in the records. So no server from a bundle is shown home folders or folders
with a leading dot, where keys and sessions lie, whatever the user allows.
"""

import hashlib
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from eyelevel.analysis.run_files import parse_stored_plan
from eyelevel.base.errors import StoreError
from eyelevel.base.from_outside.files import text_of
from eyelevel.base.from_outside.json_text import parse_object
from eyelevel.base.from_outside.limits import BUNDLE, PLAN_DOCUMENT, TRACE
from eyelevel.base.from_outside.limits import MANIFEST as MANIFEST_LIMIT
from eyelevel.base.from_outside.packed import Pack, open_pack
from eyelevel.base.from_outside.source import Source
from eyelevel.base.from_outside.words import excerpt
from eyelevel.load.external_server import find_opened_paths
from eyelevel.plan.file.from_document import check_text
from eyelevel.plan.plan import Plan
from eyelevel.plan.plan_json import StoredPlan
from eyelevel.plan.stacks import ExternalServer
from eyelevel.plan.traces.mahimahi import mean_rate_bit_s, parse_mahimahi
from eyelevel.plan.trials import recording_key
from eyelevel.run.bundle.bundle import (
    BUNDLE_VERSION,
    MANIFEST,
    PLAN_MEMBER,
    Member,
    kind_of,
    refuse_builds,
)
from eyelevel.sites.recorded import recording_name, site_info
from eyelevel.store.claim import claim
from eyelevel.store.directory import PLAN_FILE
from eyelevel.store.disk import whole_file

_DIGEST_HEX = 64


@dataclass(frozen=True)
class Bundle:
    """An unpacked and checked bundle."""

    run: Path
    plan: Plan
    digests: Mapping[Path, str]
    """The recordings' digests in the plan, for `check_sites`."""
    left: tuple[str, ...] = ()
    """The names in the bundle of files that the sender derived from the run; they are not
    unpacked."""


def open_bundle(
    file: Path,
    directory: Path,
    *,
    resume: bool = False,
    allow: Callable[[Plan], None] = lambda plan: None,
) -> Bundle:
    """Unpack a bundle into the new `directory`, every file checked against its digest.

    With `resume`, files of this bundle that are there already stay. `allow` is called with its plan
    before anything is unpacked, and raises an error to refuse it. Raises StoreError for a damaged
    bundle, and if `directory` has other content; PlanError if its plan is invalid here, or differs
    from the plan's own text.
    """
    source = Source(str(file), BUNDLE, StoreError)
    is_there = directory.exists() and any(directory.iterdir())
    if is_there and not resume:
        raise StoreError(
            f"unpacking {file}: {directory} is not empty; continue with --resume, or choose "
            "another directory"
        )
    with open_pack(file, source) as pack:
        packed = _Packed(pack, source)
        plan_there = directory / "run" / PLAN_FILE
        if plan_there.exists() and _sha256(plan_there) != packed.digests[PLAN_MEMBER]:
            raise StoreError(
                f"unpacking {file}: {directory} holds another study; choose another directory"
            )
        stored = packed.plan()
        plan = stored.plan
        refuse_builds(plan, f"unpacking {file}")
        allow(plan)
        recordings = packed.recordings(stored)
        claim(directory)
        for name in packed.digests:
            if kind_of(name) is Member.TAKEN:
                packed.unpack(name, directory)
        left = tuple(name for name in packed.digests if kind_of(name) is Member.LEFT)
    places = {key: str(directory / each.member) for key, each in recordings.items()}
    located = replace(
        plan,
        sites=tuple(places[name] for name in plan.sites),
        recording_files={key: place for key, place in places.items() if key not in plan.sites},
        trace_files={path.name: str(path.resolve()) for path in _list(directory / "files")},
    )
    digests = {directory / each.member: each.digest for each in recordings.values()}
    return Bundle(directory / "run", located, digests, left)


@dataclass(frozen=True)
class _Recording:
    """A recording in a bundle: the name of its file there, and its digest in the plan."""

    member: str
    digest: str


class _Packed:
    """The packed members of a bundle, with their digests from its manifest."""

    def __init__(self, pack: Pack, source: Source) -> None:
        self._pack, self._source = pack, source
        self.digests = self._list()

    def _list(self) -> Mapping[str, str]:
        content = self._pack.read(MANIFEST, MANIFEST_LIMIT.bytes_max)
        where = replace(self._source, name=f"{self._source.name}: {MANIFEST}", limit=MANIFEST_LIMIT)
        manifest = parse_object(content, where)
        version = manifest.get("version")
        if version != BUNDLE_VERSION or type(version) is not int:
            raise where.refusal(
                f"bundle version {excerpt(repr(version))}, but this eyelevel reads version "
                f"{BUNDLE_VERSION}",
                remedy="use the eyelevel that wrote it",
            )
        digests = manifest.get("files")
        if not isinstance(digests, dict) or not all(map(_is_digest, digests.values())):
            raise where.refusal("damaged: `files` are no names with digests")
        for name in digests:
            if kind_of(name) is Member.ASTRAY:
                raise where.refusal(f"`{excerpt(name)}` would lie outside of the directory")
        if PLAN_MEMBER not in digests:
            raise where.refusal(f"damaged: it lacks `{PLAN_MEMBER}`")
        return digests

    def plan(self) -> StoredPlan:
        """Return the plan, checked like a plan file and by its text."""
        where = f"{self._source.name}: {PLAN_MEMBER}"
        document = parse_object(
            self._read_member(PLAN_MEMBER, PLAN_DOCUMENT.bytes_max),
            replace(self._source, name=where, limit=PLAN_DOCUMENT),
        )
        stored = parse_stored_plan(document, where)
        check_text(stored.plan, where, self._mean_rate_bit_s)
        return stored

    def recordings(self, stored: StoredPlan) -> dict[str, _Recording]:
        """Return the plan's recordings by `recording_key`.

        Raises StoreError unless every site has exactly one, for the variants with their own, too.
        """
        wanted = {site.name: ("sites", site) for site in stored.recordings}
        for variant, recordings in stored.variant_recordings.items():
            for site, recording in zip(stored.recordings, recordings, strict=False):
                key = recording_key(variant, site.name)
                wanted[key] = f"variants/{key}", recording
        members: dict[tuple[str, str], list[str]] = {}
        for name in self.digests:
            path = Path(name)
            members.setdefault((str(path.parent), recording_name(path)), []).append(name)
        found = {}
        for key, (folder, recording) in wanted.items():
            there = members.get((folder, recording.name), [])
            if len(there) != 1:
                has = "has several times" if there else "lacks"
                raise self._source.refusal(f"it {has} the recording of `{excerpt(key)}`")
            found[key] = _Recording(there[0], recording.digest)
        return found

    def unpack(self, name: str, directory: Path) -> None:
        """Unpack one file; it gets its name once it is complete and has its digest."""
        target = directory / name
        if target.exists() and _sha256(target) == self.digests[name]:
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(target) as stream:
            for piece in self._check_pieces(name):
                stream.write(piece)

    def _read_member(self, name: str, bytes_max: int) -> bytes:
        return b"".join(self._check_pieces(name, bytes_max))

    def _check_pieces(self, name: str, bytes_max: int | None = None) -> Iterator[bytes]:
        digest = hashlib.sha256()
        for piece in self._pack.pieces(name, bytes_max):
            digest.update(piece)
            yield piece
        if digest.hexdigest() != self.digests[name]:
            raise self._source.refusal(f"`{excerpt(name)}` is damaged: its digest is another")

    def _mean_rate_bit_s(self, digest: str) -> int:
        name = f"files/{digest}"
        if name not in self.digests:
            raise self._source.refusal(f"it lacks `{excerpt(name)}`, a trace of its plan")
        where = replace(self._source, name=f"{self._source.name}: {name}", limit=TRACE)
        text = text_of(self._read_member(name, TRACE.bytes_max), where, keep_mark=True)
        return mean_rate_bit_s(parse_mahimahi(text, where.name))


def check_sites(bundle: Bundle, file: Path) -> None:
    """Raise StoreError if a recording is not the one that the plan was made for."""
    for path, digest in bundle.digests.items():
        if site_info(path)["digest"] != digest:
            raise StoreError(
                f"unpacking {file}: {path} is not the recording that its plan names; get it again"
            )


def _is_digest(value: object) -> bool:
    return isinstance(value, str) and len(value) == _DIGEST_HEX and value.isalnum()


def _list(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _sha256(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


_HOMES = ("/root", "/home", "/var/home", "/export/home")
"""Folders that hold the home folders of other users."""


def describe_access(plan: Plan) -> list[str]:
    """Return a sentence per command that the plan's stacks start, and per path opened to it."""
    lines = []
    for server in _servers(plan):
        lines.append(f"starts: {shlex.join(server.command)}")
        for name, path in find_opened_paths(server):
            also = "" if str(path) == name else f" (`{name}`)"
            lines.append(f"opens to it: {path}{also}")
    return list(dict.fromkeys(lines))


def describe_refusals(plan: Plan) -> list[str]:
    """Return a sentence for each path that is refused to every bundle."""
    return [
        f"`{name}` is {why}"
        for server in _servers(plan)
        for name, path in find_opened_paths(server)
        if not _is_its_program(server, name, path) and (why := why_private(path))
    ]


def why_private(path: Path) -> str:
    """Return why a path is private, or ""; a link counts as its target."""
    for seen in (Path(os.path.normpath(path)), path.resolve()):
        for home in _homes():
            if seen == home:
                return "a home"
            if seen.is_relative_to(home):
                return f"in the home {home}"
            if home.is_relative_to(seen):
                return f"around the home {home}"
        for part in seen.parts:
            if part.startswith("."):
                return f"in {part}, whose name begins with a dot"
            if part.startswith("~"):
                return f"in the home {part}, which is not on this machine"
    return ""


def _is_its_program(server: ExternalServer, name: str, path: Path) -> bool:
    """Return whether a path is the server's own program, which may lie anywhere.

    It is often a virtual environment's Python. It is executed, and exposes only itself.
    """
    return name == server.command[0] and os.access(path, os.X_OK) and path.is_file()


def _homes() -> Iterator[Path]:
    for name in {os.path.expanduser("~"), *_HOMES}:  # noqa: PTH111 (never an error)
        home = Path(name).resolve()
        if name.startswith("/") and home != Path("/"):
            yield home


def _servers(plan: Plan) -> Iterator[ExternalServer]:
    return (stack.external_server for stack in plan.stacks if stack.external_server is not None)
