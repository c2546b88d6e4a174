"""Bad inputs of every kind: seeded mutants of real samples, each with the command that reads it."""

import gzip
import json
import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import bad_archives
import bad_networks
import bad_probes
import bad_runs
from bad_changes import Kind
from bad_samples import GOLDEN

KINDS: dict[str, Kind] = {
    **bad_runs.KINDS,
    **bad_networks.KINDS,
    **bad_probes.KINDS,
    **bad_archives.KINDS,
}


@dataclass(frozen=True)
class Placed:
    """An input on the disk: the command that reads it, and the name that its message must have."""

    words: list[str]
    named: str


def place(kind: Kind, content: bytes, folder: Path) -> Placed:
    """Write the input below `folder`, in a copy of the golden run where it is a file of one."""
    trials = sorted(path.name for path in (GOLDEN / "run" / "trials").iterdir())
    pictures = sorted(path.name for path in (GOLDEN / "run" / "pictures").iterdir())
    names = {"first": trials[0], "picture": pictures[0]}
    relative = kind.file.format(**names)
    target = folder / relative
    if relative.startswith("run/"):
        shutil.copytree(GOLDEN / "run", folder / "run")
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.name == "record.json.gz":
        target = _of_its_hash(folder, target, content)
    for path, other in (kind.beside() | {str(target.relative_to(folder)): content}).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).unlink(missing_ok=True)
        (folder / path).write_bytes(other)
    (folder / "names").write_text("a.example\n")
    file = folder / relative.split("/")[0] if "/" in relative else target
    words = [
        word.format(**names | {"first": target.parent.name if "record" in kind.file else trials[0]})
        .replace("FILE/..", str(file))
        .replace("FILE", str(file))
        .replace("OUT", str(folder / "out"))
        .replace("NAMES", str(folder / "names"))
        .replace("ROWS", str(folder / "rows"))
        for word in kind.words
    ]
    return Placed(words, str(file))


def _of_its_hash(folder: Path, target: Path, content: bytes) -> Path:
    """The record's folder under the hash that it says, so that more of it is read."""
    try:
        name = json.loads(gzip.decompress(content))["trial"]["hash"]
    except Exception:  # whatever is wrong with it, its reader says so
        return target
    if not isinstance(name, str) or not name.isalnum() or len(name) > 64:
        return target
    moved = target.parent.parent / name
    if not moved.exists():
        target.parent.rename(moved)
    elif moved != target.parent:
        shutil.rmtree(target.parent)
    return moved / target.name


def bad_inputs(name: str, seed: int, count: int) -> Iterator[bytes]:
    """`count` mutants of a kind, the first of them its samples as they are."""
    kind = KINDS[name]
    samples = kind.samples()
    for number in range(count):
        sample = samples[number % len(samples)]
        chance = random.Random(f"{seed} {name} {number}")
        yield sample if number < len(samples) else kind.mutated(sample, chance)
