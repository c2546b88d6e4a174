"""Bad inputs of every kind: seeded mutants of real samples, each with the command that reads it."""

import contextlib
import gzip
import io
import json
import random
import shutil
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from bad_samples import (
    CRUX,
    FCC,
    GOLDEN,
    MONROE,
    THESIS,
    bucket_beside,
    corpus,
    delays_and_rates,
    environments,
    golden,
    in_bucket,
    listed_rows,
    parquet,
    plans,
    probe_rows,
    records,
    scan_rows,
    stop_plan,
    stops,
    texts,
    warcs,
)
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


TRIAL = "run/trials/{first}/"
REPORT = ("report", "FILE")
IMPORT = ("site", "import", "FILE", "--out", "OUT.wacz")
HAR = ("export", "FILE", "--har", "--out", "OUT")
FETCH = ("fetch", "file://FILE", "OUT")
EXPLAIN = ("explain", "trial", "FILE", "--out", "OUT.html")

KINDS: dict[str, Kind] = {
    "plan": Kind(("plan", "check", "FILE"), plans, flipped, "plan.toml"),
    "plan.json": Kind(REPORT, golden("run/plan.json"), of_json, "run/plan.json"),
    "environment": Kind(REPORT, environments, of_json, "run/environment.json"),
    "stop.json": Kind(
        REPORT, stops, of_json, "run/stop.json", lambda: {"run/plan.json": stop_plan()}
    ),
    "record in a report": Kind(REPORT, records, of_record, TRIAL + "record.json.gz"),
    "record in HAR": Kind(HAR, records, of_record, TRIAL + "record.json.gz"),
    "record explained": Kind(
        ("explain", "trial", "FILE/../trials/{first}", "--out", "OUT.html"),
        records, of_record, TRIAL + "record.json.gz",
    ),
    "frames": Kind(REPORT, golden("run/trials/*/frames.npz"), of_zip, TRIAL + "frames.npz"),
    "last picture": Kind(REPORT, golden("run/pictures/*.webp"), flipped, "run/pictures/{picture}"),
    "bundle": Kind(("rerun", "FILE", "--out", "OUT"), golden("run.zip"), of_bundle, "run.zip"),
    "block in a bucket": Kind(
        FETCH, in_bucket("blocks/0000000.zip"), of_block, "bucket/blocks/0000000.zip", bucket_beside
    ),
    "plan in a bucket": Kind(
        FETCH, in_bucket("plan.json"), of_json, "bucket/plan.json", bucket_beside
    ),
    "machine in a bucket": Kind(
        FETCH, in_bucket("machines/0123456789.json"), of_json, "bucket/machines/0123456789.json",
        bucket_beside,
    ),
    "users": Kind(
        ("network", "from-csv", "FILE"),
        texts(
            "percentile,rtt_ms,down_mbit_s\n25,20,50\n50,40,20\n75,90,5\n",
            "name;weight;rtt_ms;down_mbit_s;loss_two_way\na;2;20;50;0\nb;1;90;5;0.01\n",
        ),
        flipped, "users.csv",
    ),
    "users of CrUX": Kind(("network", "from-csv", "FILE"), texts(CRUX), of_json, "crux.json"),
    "bins of CrUX": Kind(
        ("network", "from-csv", "FILE"),
        texts("form_factor,start,end,density\nphone,0,75,0.4\nphone,75,275,0.5\nphone,275,,0.1\n"),
        flipped, "crux.csv",
    ),
    "scan list": Kind(
        ("scan", "FILE", "--out", "OUT"), texts("1,a.example\n2,b.example\n\nc.example\n"),
        flipped, "names.csv",
    ),
    "scan rows": Kind(
        ("scan", "NAMES", "--names-with", "tls1.3,quic", "--out", "FILE"), scan_rows, of_lines,
        "rows.jsonl",
    ),
    "scan rows gone on with": Kind(
        ("scan", "NAMES", "--resume", "--out", "FILE"), scan_rows, of_lines, "rows.jsonl"
    ),
    "opt-out list": Kind(
        ("scan", "NAMES", "--opt-out", "FILE", "--out", "OUT"),
        texts("a.example\n*.b.example\n192.0.2.0/24 # c\n2001:db8::/32\n"), flipped, "optout",
    ),
    "probe list": Kind(
        ("probe", "measure", "--list", "FILE", "--out", "OUT"),
        texts("# a\na.example\nhttps://b.example:8443/x?y # b\n\n[2001:db8::1]:444\n"),
        flipped, "hosts.txt",
    ),
    "probe rows gone on with": Kind(
        ("probe", "measure", "--list", "NAMES", "--resume", "--out", "FILE"), listed_rows, of_lines,
        "rows.jsonl",
    ),
    "probe rows": Kind(("probe", "report", "FILE"), probe_rows, of_lines, "rows.jsonl"),
    "probe table": Kind(("probe", "report", "FILE"), parquet, flipped, "rows.parquet"),
    "table of CDNs": Kind(
        ("probe", "report", "ROWS", "--cdn-marks", "FILE"),
        texts("# a\ncname\te.example\tE\thttps://e.example/\nserver\tedge*\tE\n"),
        flipped, "cdns.tsv", lambda: {"rows": probe_rows()[0]},
    ),
    "thesis rows": Kind(("probe", "report", "FILE"), texts(THESIS), flipped, "a_v4_b.csv"),
    "script": Kind(
        ("record", "https://a.example/", "--script", "FILE", "--out", "OUT"),
        texts("# a\nscroll end\nclick #more\nscript 1 + 1\nscroll 800\n"), flipped, "script",
    ),
    "trace": Kind(("trace", "info", "FILE"), texts("1\n5\n5\n90\n"), flipped, "a.trace"),
    "rates": Kind(
        ("trace", "info", "FILE"), texts("time_ms;kbps\n0;5000\n90;8000\n"), flipped, "a.csv"
    ),
    "trace imported": Kind(
        ("trace", "import", "FILE", "--out", "OUT"), texts("1\n5\n5\n90\n"), flipped, "a.trace"
    ),
    "delay and rate": Kind(
        ("trace", "import", "FILE", "--out", "OUT"), delays_and_rates, flipped, "a.csv"
    ),
    "FCC": Kind(("trace", "import", "FILE", "--out", "OUT"), texts(FCC), flipped, "a.csv"),
    "MONROE": Kind(("trace", "import", "FILE", "--out", "OUT"), texts(MONROE), flipped, "a.csv"),
    "light recording": Kind(
        ("trace", "import", "FILE", "FILE.heavy", "--out", "OUT"),
        texts("0 20 0 0 1.5\n500 25.5 0 1\n1000 20 0\n"), flipped, "a.light",
        lambda: {"a.light.heavy": b"1\n9\n"},
    ),
    "path log": Kind(("path", "fates", "FILE", "OUT"), corpus("path_log"), flipped, "down.log"),
    "archive": Kind(("site", "info", "FILE"), golden("small.wacz"), of_zip, "a.wacz"),
    "WARC": Kind(("site", "info", "FILE"), warcs, of_warc, "a.warc"),
    "WARC imported": Kind(IMPORT, warcs, of_warc, "a.warc"),
    "Mahimahi": Kind(IMPORT, corpus("mahimahi"), flipped, "saved/save.1"),
    "HAR": Kind(IMPORT, corpus("har"), flipped, "a.har"),
    "mitmproxy": Kind(IMPORT, corpus("mitmproxy"), flipped, "a.flow"),
    "WPR": Kind(IMPORT, corpus("wpr"), flipped, "a.wprgo"),
}  # fmt: skip


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
