"""Files from outside, damaged at random: every reader reads them or refuses them in one line.

Seeded and bounded: the same thousands of mutants in every run, so a failure comes again.
`docs/decisions/0010-fuzzing.md` says why so and not otherwise.
"""

import json
from collections.abc import Callable

import numpy as np
import pytest
from bad_samples import FCC, MONROE, delays_and_rates
from counts import count
from repository import ROOT

from eyelevel.analysis.pathlog import read_log, series_of, summarise
from eyelevel.base.errors import ExpectedError
from eyelevel.plan.traces.delay_rate import parse_rates
from eyelevel.plan.traces.imported import import_traces
from eyelevel.plan.traces.info import trace_info
from eyelevel.plan.traces.mahimahi import parse_mahimahi
from eyelevel.plan.traces.rates import rates_of

pytestmark = pytest.mark.counted

SEED = 20261121
MUTANTS = count(full=1500, sample=150)
"""For each reader; 1,500 take about two seconds."""

CORPUS = ROOT / "crates/fuzz/corpus"
MAHIMAHI_LOG = b"""\
# mahimahi mm-link (downlink) [5mbps.trace] > d.log
# base timestamp: 1000
1000 # 1504
1001 + 1504
1002 - 1504 1
1004 # 1504
1005 d 2 3008
"""
RATES = [
    b"0,1\n0.5,12.25\n2,0\n",
    b"time_ms;kbps\n0;500\n100;800\n",
    b"# a comment\ntime\tmbit_s\n1\t2\n2\t1e2\n",
]
# Bytes that readers of text and of numbers stumble over.
TOKENS = [
    *(b"0", b"-1", b"1e308", b"NaN", b"Infinity", b"9" * 25, b"9" * 5000, b"0x10", b"1_000"),
    *(b"\0", b"\r", b"\n\n", b"\x0b", b"\x1c", b"\xff\xfe", "²".encode(), "\u2028".encode()),
    *(b'"', b"'", b",", b";", b"\t", b"#", b"null", b"[]", b"{}", b"true", b'"a\\nb"', b"[[[["),
]


def log_of_ours(content: bytes) -> None:
    """As `eyelevel path plot` does."""
    log = read_log(content, "file")
    summarise(log)
    series_of(log)


def trace(content: bytes) -> None:
    """As `eyelevel trace info` does."""
    opportunities = parse_mahimahi(content.decode("utf-8", errors="replace"), "file")
    trace_info(opportunities)
    rates_of(opportunities, 1000)


def rates(content: bytes) -> None:
    """As `eyelevel trace convert` does with CSV."""
    parse_rates(content.decode("utf-8", errors="replace"), "file")


def imported(content: bytes) -> None:
    """As `eyelevel trace import` does."""
    list(import_traces([("file", content)], "out"))


def light(content: bytes) -> None:
    """The same with a light recording."""
    list(import_traces([("file", content), ("file", b"1\n9\n")], "out"))


def corpus(target: str) -> list[bytes]:
    """The seeds that the fuzz target of the same files begins with."""
    return [path.read_bytes() for path in sorted((CORPUS / target).iterdir())]


READERS: dict[str, tuple[Callable[[bytes], None], list[bytes]]] = {
    "path log": (log_of_ours, corpus("path_log")),
    "Mahimahi's log": (log_of_ours, [MAHIMAHI_LOG]),
    "trace": (trace, corpus("trace")),
    "rates": (rates, RATES),
    "delay and rate": (imported, delays_and_rates()),
    "FCC and MONROE": (imported, [FCC.encode(), MONROE.encode()]),
    "light recording": (light, [b"0 20 0 0 1.5\n500 25.5 0 1\n1000 20 0\n"]),
}


@pytest.mark.parametrize("reader", READERS)
def test_a_damaged_file_is_read_or_refused_in_one_line(reader: str) -> None:
    read, seeds = READERS[reader]
    rng = np.random.default_rng(SEED)
    accepted = seeds_read = 0
    for number in range(MUTANTS):
        seed = seeds[number % len(seeds)]
        content = mutated(rng, seed) if number >= len(seeds) else seed
        was_read = is_read(read, content, f"{reader}, seed {SEED}, mutant {number}")
        accepted += was_read
        seeds_read += was_read and number < len(seeds)
    # Neither everything nor nothing: the mutants reach both ends.
    assert 0 < accepted < MUTANTS
    assert seeds_read, "where each seed is refused its mutants do not come far"


def is_read(read: Callable[[bytes], None], content: bytes, which: str) -> bool:
    """Whether it was read; fails where it is neither read nor refused as a user should see it."""
    try:
        with np.errstate(all="ignore"):
            read(content)
    except ExpectedError as error:
        message = str(error)
        assert len(message.splitlines()) == 1, f"{which}: {message!r}"
        assert message.startswith("file"), f"{which}: {message!r}"
        assert len(message) < 600, f"{which}: {len(message)} characters"
        return False
    except Exception as error:
        pytest.fail(f"{which}: {type(error).__name__}: {error} from {content[:600]!r}")
    return True


def mutated(rng: np.random.Generator, content: bytes) -> bytes:
    """One to four changes: of a byte, a number, a JSON value, a line, or the length."""
    for _ in range(int(rng.integers(1, 5))):
        content = CHANGES[int(rng.integers(len(CHANGES)))](rng, content)
    return content


def _flip(rng: np.random.Generator, content: bytes) -> bytes:
    if not content:
        return content
    changed = bytearray(content)
    changed[int(rng.integers(len(changed)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def _insert(rng: np.random.Generator, content: bytes) -> bytes:
    at = int(rng.integers(len(content) + 1))
    return content[:at] + TOKENS[int(rng.integers(len(TOKENS)))] + content[at:]


def _word(rng: np.random.Generator, content: bytes) -> bytes:
    words = content.split(b" ") if b" " in content else content.split(b",")
    words[int(rng.integers(len(words)))] = TOKENS[int(rng.integers(len(TOKENS)))]
    return (b" " if b" " in content else b",").join(words)


def _cut(rng: np.random.Generator, content: bytes) -> bytes:
    low, high = sorted(int(n) for n in rng.integers(len(content) + 1, size=2))
    return content[:low] if rng.integers(2) else content[:low] + content[high:]


def _line_again(rng: np.random.Generator, content: bytes) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    moved = lines[int(rng.integers(len(lines)))]
    lines.insert(int(rng.integers(len(lines) + 1)), moved)
    return b"".join(lines)


def _json_value(rng: np.random.Generator, content: bytes) -> bytes:
    """Another value, or none, somewhere in the head of a path's log."""
    line, newline, body = content.partition(b"\n")
    try:
        head = json.loads(line)
    except ValueError:
        return content
    inner, key = head, None
    while isinstance(inner, dict | list) and inner:
        keys = list(inner) if isinstance(inner, dict) else list(range(len(inner)))
        holder, key = inner, keys[int(rng.integers(len(keys)))]
        inner = holder[key]
        if rng.integers(3) == 0:
            break
    if key is None:
        return content
    strange = [None, -1, 0, 1e308, 10**30, "", "x\ny", [], {}, [None], True, float("nan")]
    choice = int(rng.integers(len(strange) + 1))
    if choice == len(strange):
        del holder[key]
    else:
        holder[key] = strange[choice]
    return json.dumps(head).encode() + newline + body


CHANGES = (_flip, _insert, _word, _cut, _line_again, _json_value)
