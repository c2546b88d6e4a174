"""Make samples bad, and define a kind of bad input."""

import contextlib
import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from mutants import mutants

from eyelevel.store.schema import hash_of_key

TOKENS = (
    *(b"\0", b"\xff\xfe", b"\xe9", b"\x1b[2J\x1b]0;x\x07", "\u202e".encode(), b"[/b]", b"\r\n"),
    *(
        b"9" * 25,
        b"9" * 5000,
        b"1e999",
        b"-1e999",
        b"NaN",
        b"Infinity",
        b"-0",
        b"0x10",
        b"\xed\xa0",
    ),
    *(b"[" * 20_000, b'{"a":' * 20_000, b"(" * 5000, b"y" * 300_000, b".".join([b"a"] * 2000)),
    *(b'"', b"'", b",", b";", b"#", b"=", b"null", b"[]", b"{}", b"true", b"\\u0000", b"../../x"),
)
GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Kind:
    """One reader through its command: `words` with FILE for the input, OUT for what it writes."""

    words: tuple[str, ...]
    samples: Callable[[], list[bytes]]
    mutated: Callable[[bytes, random.Random], bytes]
    file: str = "input"
    """The input's name. With a slash FILE is its folder: below `run/` a copy of the golden run."""
    beside: Callable[[], dict[str, bytes]] = dict
    """Other files, by name."""


def flipped(sample: bytes, chance: random.Random) -> bytes:
    """One to four changes of bytes: flips, cuts, tokens, moved pieces."""
    content = sample
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(len(content) + 1)
        change = chance.randrange(5)
        if change == 0 and content:
            at = min(at, len(content) - 1)
            content = (
                content[:at] + bytes([content[at] ^ 1 << chance.randrange(8)]) + content[at + 1 :]
            )
        elif change == 1:
            content = content[:at]
        elif change == 2:
            end = min(len(content), at + chance.randrange(200))
            content = content[:at] + content[end:]
        elif change == 3:
            content = content[:at] + chance.choice(TOKENS) + content[at:]
        else:
            end = min(len(content), at + chance.randrange(200))
            content = content[:at] + content[at:end] * 2 + content[end:]
    return content


def of_json(sample: bytes, chance: random.Random) -> bytes:
    """Another value or none somewhere, or other bytes."""
    if chance.random() < 0.3:
        return flipped(sample, chance)
    return _dumped(next(mutants(json.loads(sample), chance, 1)))


def of_lines(sample: bytes, chance: random.Random) -> bytes:
    """One line of JSON changed, or other bytes."""
    lines = sample.splitlines(keepends=True)
    at = chance.randrange(len(lines))
    if chance.random() < 0.3:
        return flipped(sample, chance)
    lines[at] = _dumped(next(mutants(json.loads(lines[at]), chance, 1))) + b"\n"
    return b"".join(lines)


def of_record(sample: bytes, chance: random.Random) -> bytes:
    """A record whose hash is right however it was changed, or whose bytes were."""
    which = chance.random()
    if which < 0.15:
        return flipped(sample, chance)
    plain = gzip.decompress(sample)
    if which < 0.25:
        return gzip.compress(flipped(plain, chance), 1)
    record = next(mutants(json.loads(plain), chance, 1))
    with contextlib.suppress(TypeError, KeyError, ValueError, OverflowError):
        record["trial"]["hash"] = hash_of_key(record["trial"])
    return gzip.compress(_dumped(record), 1)


def of_warc(sample: bytes, chance: random.Random) -> bytes:
    """Other bytes of what is packed, or of what packs it."""
    if not sample.startswith(GZIP) or chance.random() < 0.4:
        return flipped(sample, chance)
    return gzip.compress(flipped(gzip.decompress(sample), chance), 1)


def of_zip(sample: bytes, chance: random.Random) -> bytes:
    """Other bytes, or another member."""
    if chance.random() < 0.4:
        return flipped(sample, chance)
    members = _members(sample)
    name = chance.choice(list(members))
    members[name] = flipped(members[name], chance)
    return _zipped(members)


def of_block(sample: bytes, chance: random.Random) -> bytes:
    """A block with another record, another member, or other bytes."""
    if chance.random() < 0.5:
        return of_zip(sample, chance)
    members = _members(sample)
    name = chance.choice([name for name in members if name.endswith("record.json.gz")])
    members[name] = of_record(members[name], chance)
    return _zipped(members)


def of_bundle(sample: bytes, chance: random.Random) -> bytes:
    """A bundle with another list of files, another plan whose digest is right, or other bytes."""
    which = chance.random()
    if which < 0.3:
        return of_zip(sample, chance)
    members = _members(sample)
    manifest = json.loads(members["bundle.json"])
    if which < 0.5:
        manifest = next(mutants(manifest, chance, 1))
    elif which < 0.6:
        manifest["files"][chance.choice(("../x", "run/../../x", "", "/x", "run/\0", "x"))] = (
            "0" * 64
        )
    elif which < 0.7:
        members.pop(chance.choice(list(members)))
    else:
        members["run/plan.json"] = of_json(members["run/plan.json"], chance)
        manifest["files"]["run/plan.json"] = sha256(members["run/plan.json"]).hexdigest()
    members["bundle.json"] = members.get("bundle.json") and _dumped(manifest)
    return _zipped({name: content for name, content in members.items() if content is not None})


def _members(sample: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(sample)) as pack:
        return {name: pack.read(name) for name in pack.namelist()}


def _zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as pack:
        for name, content in members.items():
            pack.writestr(name, content)
    return buffer.getvalue()


def _dumped(value: Any) -> bytes:
    try:
        return json.dumps(value).encode()
    except ValueError:  # a number of more digits than Python writes
        return b"[" + b"9" * 5000 + b"]"
