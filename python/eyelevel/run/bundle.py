"""One file that holds a run and what it takes to repeat it: plan, sites, records, report.

A ZIP file: `bundle.json` (version, the plan's hash, the SHA-256 of every other file), `run/` (the
run's directory) and `sites/NAME.wacz` (the recordings, under the names that the plan knows).
"""

import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any

from eyelevel.plan import Plan, parse_plan
from eyelevel.run.sites import RecordedSite
from eyelevel.store import PLAN_FILE, TABLE_FILE, StoreError, read_document

BUNDLE_VERSION = 1
MANIFEST = "bundle.json"
MANIFEST_BYTES_MAX = 200_000_000  # of a million files
# ZIP cannot say earlier years; one date makes the same run the same bundle.
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Bundle:
    """A bundle that was unpacked and checked."""

    run: Path
    plan: Plan
    sites: tuple[Path, ...]


def write_bundle(directory: Path, sites: Sequence[RecordedSite], file: Path) -> int:
    """Pack the run in `directory` with the recordings of its plan; the number of files.

    Raises StoreError where a site is not the recording that the plan names.
    """
    document = read_document(directory, PLAN_FILE)
    by_name = {site.name: site for site in sites}
    members: list[tuple[str, Path]] = []
    for wanted in document["sites"]:
        site = by_name.get(wanted["name"])
        if site is None or site.digest != wanted["digest"]:
            raise StoreError(
                f"bundling {directory}: the recording of `{wanted['name']}` with the digest "
                f"{wanted['digest']} is not at hand; name its file with --site"
            )
        members.append((f"sites/{site.name}{''.join(site.path.suffixes[-2:])}", site.path))
    members += sorted(_files(directory))
    digests = {name: _sha256(path) for name, path in members}
    manifest = {"version": BUNDLE_VERSION, "plan_hash": document["hash"], "files": digests}
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as pack:
            pack.writestr(zipfile.ZipInfo(MANIFEST, _DATE), json.dumps(manifest))
            for name, path in members:
                entry = zipfile.ZipInfo(name, _DATE)
                packed = path.suffix in (
                    ".npz",
                    ".webp",
                    ".wacz",
                    ".gz",
                )  # these do not shrink further
                entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
                with path.open("rb") as source, pack.open(entry, "w", force_zip64=True) as target:
                    shutil.copyfileobj(source, target)
        temporary.rename(file)
    finally:
        temporary.unlink(missing_ok=True)
    return len(members)


def open_bundle(file: Path, directory: Path) -> Bundle:
    """Unpack a bundle into the new `directory`, every file checked against its digest.

    Raises StoreError for a damaged bundle, and where `directory` is there and not empty.
    """
    if directory.exists() and any(directory.iterdir()):
        raise StoreError(f"unpacking {file}: {directory} is not empty; choose another directory")
    try:
        with zipfile.ZipFile(file) as pack:
            manifest = _manifest(pack, file)
            for name, digest in manifest["files"].items():
                _unpack(pack, file, name, digest, directory)
    except (zipfile.BadZipFile, KeyError) as error:
        raise StoreError(f"unpacking {file}: damaged ({error}); get it again") from error
    run = directory / "run"
    document = read_document(run, PLAN_FILE)
    found = {
        path.name.removesuffix(".gz").removesuffix(".warc").removesuffix(".wacz"): path
        for path in (directory / "sites").iterdir()
    }
    names = [site["name"] for site in document["sites"]]
    sites = tuple(found[name] for name in names)
    plan = parse_plan(
        document["source"],
        str(file),
        matching=lambda pattern: [name for name in names if fnmatchcase(name, pattern)],
    )
    return Bundle(run, replace(plan, sites=tuple(map(str, sites))), sites)


def _files(directory: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder) / name
            if not name.startswith(".") and name != TABLE_FILE:  # which is computed anew
                yield f"run/{path.relative_to(directory).as_posix()}", path


def _manifest(pack: zipfile.ZipFile, file: Path) -> Mapping[str, Any]:
    if pack.getinfo(MANIFEST).file_size > MANIFEST_BYTES_MAX:
        raise StoreError(f"unpacking {file}: its list of files is too long")
    manifest = json.loads(pack.read(MANIFEST))
    if manifest.get("version") != BUNDLE_VERSION:
        raise StoreError(
            f"unpacking {file}: bundle version {manifest.get('version')!r}, but this eyelevel "
            f"reads version {BUNDLE_VERSION}; use the eyelevel that wrote it"
        )
    return manifest


def _unpack(pack: zipfile.ZipFile, file: Path, name: str, digest: str, directory: Path) -> None:
    parts = PurePosixPath(name).parts
    if parts[0] not in ("run", "sites") or ".." in parts or name.startswith("/"):
        raise StoreError(f"unpacking {file}: `{name}` would lie outside of the directory")
    target = directory.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    with pack.open(name) as source, target.open("wb") as stream:
        shutil.copyfileobj(source, stream)
    if _sha256(target) != digest:
        raise StoreError(f"unpacking {file}: `{name}` is damaged; get the bundle again")


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
