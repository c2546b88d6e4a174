"""One file that holds a run and what it takes to repeat it: spec/run-record.md has its layout."""

import hashlib
import io
import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from eyelevel.analysis.run_files import read_plan_document
from eyelevel.analysis.trials.table import TABLE_FILE
from eyelevel.errors import StoreError
from eyelevel.json_types import JsonMapping
from eyelevel.plan.plan import Plan
from eyelevel.plan.plan_json import plan_of_document
from eyelevel.run.bundle.inputs import RunInputs
from eyelevel.sites.recorded import recording_name
from eyelevel.store.directory import PLAN_FILE

BUNDLE_VERSION = 1

MANIFEST = "bundle.json"
MANIFEST_BYTES_MAX = 200_000_000  # of a million files
FOLDERS = ("run", "sites", "files", "locks")
# ZIP cannot say earlier years; one date makes the same run the same bundle.
_DATE = (1980, 1, 1, 0, 0, 0)
_PACKED = (".npz", ".webp", ".wacz", ".gz")  # these do not shrink further


@dataclass(frozen=True)
class Bundle:
    """A bundle that was unpacked and checked."""

    run: Path
    plan: Plan
    sites: tuple[Path, ...]


def write_bundle(directory: Path, inputs: RunInputs, file: Path) -> int:
    """Pack the run in `directory` with what it was made from; the number of files.

    Raises StoreError if a site is not the recording that the plan names.
    """
    document = read_plan_document(directory)
    members: list[tuple[str, Path | bytes]] = []
    for wanted in document["sites"]:
        name = wanted["name"]
        site = inputs.sites.get(name)
        if site is None or site.digest != wanted["digest"]:
            raise StoreError(
                f"bundling {directory}: the recording of `{name}` with the digest "
                f"{wanted['digest']} is not at hand; name its file with --site"
            )
        kind = site.path.name.removeprefix(recording_name(site.path))
        members.append((f"sites/{name}{kind}", site.path))
    members += [(f"files/{digest}", path) for digest, path in sorted(inputs.files.items())]
    members += [(f"locks/{name}", content) for name, content in sorted(inputs.locks.items())]
    members += sorted(_files(directory))
    digests = {name: _sha256(content) for name, content in members}
    manifest = {"version": BUNDLE_VERSION, "plan_hash": document["hash"], "files": digests}
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as pack:
            pack.writestr(zipfile.ZipInfo(MANIFEST, _DATE), json.dumps(manifest))
            for name, content in members:
                entry = zipfile.ZipInfo(name, _DATE)
                packed = PurePosixPath(name).suffix in _PACKED
                entry.compress_type = zipfile.ZIP_STORED if packed else zipfile.ZIP_DEFLATED
                with _opened(content) as source, pack.open(entry, "w", force_zip64=True) as target:
                    shutil.copyfileobj(source, target)
        temporary.rename(file)
    finally:
        temporary.unlink(missing_ok=True)
    return len(members)


def open_bundle(file: Path, directory: Path, *, resume: bool = False) -> Bundle:
    """Unpack a bundle into the new `directory`, every file checked against its digest.

    With `resume` what of this bundle is there already stays. Raises StoreError for a damaged
    bundle, and if `directory` holds anything else.
    """
    is_there = directory.exists() and any(directory.iterdir())
    if is_there and not resume:
        raise StoreError(
            f"unpacking {file}: {directory} is not empty; continue with --resume, or choose "
            "another directory"
        )
    try:
        with zipfile.ZipFile(file) as pack:
            manifest = _manifest(pack, file)
            plan = directory / "run" / PLAN_FILE
            if plan.exists() and _sha256(plan) != manifest["files"][f"run/{PLAN_FILE}"]:
                raise StoreError(
                    f"unpacking {file}: {directory} holds another study; choose another directory"
                )
            for name, digest in manifest["files"].items():
                _unpack(pack, file, name, digest, directory)
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, RuntimeError) as error:
        # RuntimeError: encrypted, or packed in a way that `zipfile` does not know.
        raise StoreError(f"unpacking {file}: damaged ({error}); get it again") from error
    run = directory / "run"
    document = read_plan_document(run)
    recordings = {recording_name(path): path for path in _listed(directory / "sites")}
    if lost := [site["name"] for site in document["sites"] if site["name"] not in recordings]:
        raise StoreError(f"unpacking {file}: it lacks the recording of `{lost[0]}`; get it again")
    sites = tuple(recordings[site["name"]] for site in document["sites"])
    files = {path.name: str(path.resolve()) for path in _listed(directory / "files")}
    return Bundle(run, plan_of_document(document, tuple(map(str, sites)), files), sites)


def _listed(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _files(directory: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(directory):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in names:
            path = Path(folder) / name
            if not name.startswith(".") and name != TABLE_FILE:  # which is computed anew
                yield f"run/{path.relative_to(directory).as_posix()}", path


def _manifest(pack: zipfile.ZipFile, file: Path) -> JsonMapping:
    if pack.getinfo(MANIFEST).file_size > MANIFEST_BYTES_MAX:
        raise StoreError(f"unpacking {file}: its list of files is too long")
    try:
        manifest = json.loads(pack.read(MANIFEST))
    except (ValueError, RecursionError):
        manifest = None
    if not isinstance(manifest, dict):
        raise StoreError(f"unpacking {file}: its {MANIFEST} is damaged; get it again")
    if manifest.get("version") != BUNDLE_VERSION:
        raise StoreError(
            f"unpacking {file}: bundle version {manifest.get('version')!r}, but this eyelevel "
            f"reads version {BUNDLE_VERSION}; use the eyelevel that wrote it"
        )
    if not isinstance(manifest["files"], dict):
        raise StoreError(f"unpacking {file}: its {MANIFEST} is damaged; get it again")
    return manifest


def _unpack(pack: zipfile.ZipFile, file: Path, name: str, digest: str, directory: Path) -> None:
    parts = PurePosixPath(name).parts
    if len(parts) < 2 or parts[0] not in FOLDERS or ".." in parts or name.startswith("/"):
        raise StoreError(f"unpacking {file}: `{name}` would lie outside of the directory")
    target = directory.joinpath(*parts)
    if target.exists() and _sha256(target) == digest:
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{target.name}.partial")
    with pack.open(name) as source, partial.open("wb") as stream:
        shutil.copyfileobj(source, stream)
    if _sha256(partial) != digest:
        partial.unlink()
        raise StoreError(f"unpacking {file}: `{name}` is damaged; get the bundle again")
    partial.replace(target)


def _sha256(content: Path | bytes) -> str:
    with _opened(content) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _opened(content: Path | bytes) -> io.BytesIO | io.BufferedReader:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")
