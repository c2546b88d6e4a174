"""Pack a run and its inputs into one file, laid out as in spec/run-record.md."""

import hashlib
import io
import json
import os
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from eyelevel.analysis.run_files import read_environment, read_plan_document, read_stopped
from eyelevel.analysis.trials.kept_rows import TABLE_FILE
from eyelevel.base.errors import StoreError
from eyelevel.run.bundle.inputs import RunInputs
from eyelevel.run.bundle.members import BUNDLE_VERSION, MANIFEST, PACKED_SUFFIXES
from eyelevel.sites.recorded import recording_name
from eyelevel.store.directory import ENVIRONMENT_FILE, iterate_trials
from eyelevel.store.disk.results import writing
from eyelevel.store.disk.whole import whole_file
from eyelevel.store.machines import read_machines

# The earliest date of ZIP; a constant date makes bundles reproducible.
_DATE = (1980, 1, 1, 0, 0, 0)


def write_bundle(directory: Path, inputs: RunInputs, file: Path) -> int:
    """Pack the run in `directory` with its inputs, and return the number of files.

    Every record is read and checked first. Raises StoreError for a damaged record, and if a site is
    not the recording that the plan names.
    """
    document = read_plan_document(directory)
    _check(directory)
    members: list[tuple[str, Path | bytes]] = []
    for wanted in document["sites"]:
        name = wanted["name"]
        site = inputs.sites.get(name)
        if site is None or site.digest != wanted["digest"]:
            raise StoreError(
                f"bundling {directory}: the recording of `{name}` with the digest "
                f"{wanted['digest']} is missing; name its file with --site"
            )
        kind = site.path.name.removeprefix(recording_name(site.path))
        members.append((f"sites/{name}{kind}", site.path))
    members += [(f"files/{digest}", path) for digest, path in sorted(inputs.files.items())]
    members += [(f"locks/{name}", content) for name, content in sorted(inputs.locks.items())]
    members += sorted(_files(directory))
    digests = {name: _sha256(content) for name, content in members}
    manifest = {"version": BUNDLE_VERSION, "plan_hash": document["hash"], "files": digests}
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
            with _open(content) as source, pack.open(entry, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target)
    return len(members)


def _files(directory: Path) -> Iterator[tuple[str, Path]]:
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
    with _open(content) as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _open(content: Path | bytes) -> io.BytesIO | io.BufferedReader:
    return io.BytesIO(content) if isinstance(content, bytes) else content.open("rb")
