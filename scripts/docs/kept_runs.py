"""Keep the records of replications' runs in the repository, and continue from them elsewhere.

A run is kept as `docs/replications/runs/MACHINE/TEXT/RUN.tar.xz`, where MACHINE names browser and
kernel: all that its results are computed from, which are its documents, records, frames and
pictures. Records lie in it uncompressed, since xz finds what they share.
"""

import gzip
import lzma
import shutil
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

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
    """Keep all runs of a text, and its handshakes, in the folder `kept`, and nothing else."""
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    for plan in sorted(text.glob(f"*/{PLAN_FILE}")):
        if list_committed(plan.parent):
            pack_run(plan.parent, kept / f"{plan.parent.name}{SUFFIX}")
    if (text / HANDSHAKES).exists():
        shutil.copyfile(text / HANDSHAKES, kept / HANDSHAKES)


def restore_runs(kept: Path, text: Path) -> None:
    """Put back the kept runs and handshakes of a text, unless `text` has them."""
    for file in sorted(kept.glob(f"*{SUFFIX}")):
        run = text / file.name.removesuffix(SUFFIX)
        if not run.exists():
            unpack_run(file, run)
    if (kept / HANDSHAKES).exists() and not (text / HANDSHAKES).exists():
        text.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept / HANDSHAKES, text / HANDSHAKES)


def pack_run(run: Path, file: Path) -> None:
    """Write all that a run's results are computed from to `file`; equal runs give equal bytes."""
    with lzma.open(file, "wb") as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in _read_files(run):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, BytesIO(content))


def unpack_run(file: Path, run: Path) -> None:
    """Make the directory `run` of a kept run, whole or not at all."""
    draft = run.with_name(f".{run.name}")
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    with tarfile.open(file) as archive:
        archive.extractall(draft, filter="data")
    for record in sorted(draft.glob(f"{TRIALS}/*/{UNPACKED}")):
        # As `store.packed` writes it: the same bytes as before.
        content = gzip.compress(record.read_bytes(), RECORD_EFFORT, mtime=0)
        record.with_name(RECORD_FILE).write_bytes(content)
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
