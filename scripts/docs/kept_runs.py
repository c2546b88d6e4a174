"""Keep the runs of replications in the repository, and restore them in another checkout.

A run is kept as `docs/replications/runs/MACHINE/TEXT/RUN.tar.xz`, where MACHINE names browser and
kernel. The archive has what the run's results are computed from: documents, records, frames and
pictures. Records are in it uncompressed, so that xz compresses what they have in common.
"""

import gzip
import lzma
import shutil
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from eyelevel.base.errors import StoreError
from eyelevel.replication.lab_handshakes import FILE as HANDSHAKES
from eyelevel.store.directory import (
    ENVIRONMENT_FILE,
    FRAMES_FILE,
    PLAN_FILE,
    RECORD_FILE,
    STOP_FILE,
    TRIALS,
    list_committed,
    read_record_file,
)
from eyelevel.store.packed import RECORD_EFFORT
from eyelevel.store.pictures import PICTURES

SUFFIX = ".tar.xz"
UNPACKED = RECORD_FILE.removesuffix(".gz")


def keep_runs(text: Path, kept: Path) -> None:
    """Replace the folder `kept` by all runs in the folder `text`, and its handshakes.

    Whenever it is interrupted, the earlier runs or the new ones are there.
    """
    draft, earlier = (kept.with_name(f".{kept.name}-{state}") for state in ("new", "old"))
    for each in (draft, earlier):
        shutil.rmtree(each, ignore_errors=True)
    draft.mkdir(parents=True)
    # The name of a run that is being restored begins with a dot.
    for plan in sorted(text.glob(f"[!.]*/{PLAN_FILE}")):
        if list_committed(plan.parent):
            pack_run(plan.parent, draft / f"{plan.parent.name}{SUFFIX}")
    if (text / HANDSHAKES).exists():
        shutil.copyfile(text / HANDSHAKES, draft / HANDSHAKES)
    if kept.exists():
        kept.rename(earlier)
    draft.rename(kept)
    shutil.rmtree(earlier, ignore_errors=True)


def restore_runs(kept: Path, text: Path) -> None:
    """Restore the runs and handshakes in the folder `kept` that the folder `text` lacks."""
    for file in sorted(kept.glob(f"*{SUFFIX}")):
        run = text / file.name.removesuffix(SUFFIX)
        if not run.exists():
            unpack_run(file, run)
    if (kept / HANDSHAKES).exists() and not (text / HANDSHAKES).exists():
        text.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept / HANDSHAKES, text / HANDSHAKES)


def pack_run(run: Path, file: Path) -> None:
    """Write what a run's results are computed from to `file`; equal runs give equal bytes."""
    with lzma.open(file, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in _read_files(run):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, BytesIO(content))


def unpack_run(file: Path, run: Path) -> None:
    """Restore the directory `run` from `file`, whole or not at all.

    Raises `StoreError` if the file is damaged.
    """
    draft = run.with_name(f".{run.name}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    try:
        # Read whole first: tarfile does not reach xz's check at the end of the file.
        content = BytesIO(lzma.decompress(file.read_bytes()))
        with tarfile.open(fileobj=content, mode="r:") as archive:
            archive.extractall(draft, filter="data")
    except (tarfile.TarError, lzma.LZMAError) as error:
        remedy = "get it again with `git restore`"
        raise StoreError(f"restoring {file}: it is damaged ({error}); {remedy}") from error
    for record in sorted(draft.glob(f"{TRIALS}/*/{UNPACKED}")):
        # As `store.packed` compresses it, so that its bytes are the same.
        compressed = gzip.compress(record.read_bytes(), RECORD_EFFORT, mtime=0)
        record.with_name(RECORD_FILE).write_bytes(compressed)
        record.unlink()
    draft.rename(run)


def _read_files(run: Path) -> Iterator[tuple[str, bytes]]:
    documents = [run / name for name in (ENVIRONMENT_FILE, PLAN_FILE, STOP_FILE)]
    patterns = ("machines/*.json", f"{PICTURES}/*", f"{TRIALS}/*/{FRAMES_FILE}")
    for file in [*documents, *(each for glob in patterns for each in sorted(run.glob(glob)))]:
        if file.exists():
            yield str(file.relative_to(run)), file.read_bytes()
    for trial in sorted(list_committed(run)):
        folder = f"{TRIALS}/{trial}"
        yield f"{folder}/{UNPACKED}", gzip.decompress(read_record_file(str(run / folder)))
