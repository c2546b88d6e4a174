"""Files of recordings are accepted by the control plane exactly where the data plane accepts them.

Both parse them: Python before a run, so that a bad file costs no load, and Rust in each load.
"""

import random
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from timeouts import TEST_TIMEOUT_S

from eyelevel.base.errors import TraceError
from eyelevel.base.from_outside.files import text_of
from eyelevel.base.from_outside.limits import TRACE
from eyelevel.base.from_outside.source import Source
from eyelevel.lab.binary import find_binary
from eyelevel.plan.traces.imported import parse_light
from eyelevel.plan.traces.mahimahi import micro_lines, parse_mahimahi

OF_EACH = 200
HEAVY = "heavy.trace"


def read_opportunities(content: bytes) -> None:
    source = Source("f", TRACE, TraceError)
    parse_mahimahi(text_of(content, source, keep_mark=True), "f")


def read_light(content: bytes) -> None:
    parse_light(content, Source("f", TRACE, TraceError))


SIGNS = [
    *(b"", b"\n", b"\r", b"\r\n", b" ", b"\t", b"\x0b", b"\x0c", b"\0", b"#", b"-", b"+", b"."),
    *(b"0", b"9", b"x", b"_", b"e3", b"5.", b".5", b"1.2.3", b"\xef\xbb\xbf", b"\xff", b"\xc2\xb2"),
    *("\u0660", "\u2028", "\u00a0", "\ufeff", "\u0085"),
    *(b"00000000000000000000000000007", b"2592000000", b"2592000001", b"18446744073709551616"),
    *(b"9223372036854775808", b"9" * 400, b"0.0000001", b"60000", b"60000.1", b"1e5", b"inf"),
]
SIGNS = [sign.encode() if isinstance(sign, str) else sign for sign in SIGNS]


MARK = b"\xef\xbb\xbf"


def changed(rng: random.Random, content: bytes) -> bytes:
    """The content with something put in, in the place of something, or taken out."""
    if rng.random() < 0.1:
        return MARK + content
    for _ in range(rng.choice([0, 0, 1, 2])):
        at = rng.choice([0, len(content), rng.randrange(len(content) + 1)])
        until = at + rng.choice([0, 0, 0, 1, 2])
        content = content[:at] + rng.choice(SIGNS) + content[until:]
    return content


def opportunities(rng: random.Random) -> bytes:
    values = sorted(rng.randrange(rng.choice([3, 100, 10**6])) for _ in range(rng.randrange(6)))
    end = rng.choice(["\n", "\n", "\r\n", "\r", " \n", "\n "])
    text = end.join(map(str, values)) + rng.choice([end, "", end + end])
    return changed(rng, text.encode())


def trains(rng: random.Random) -> bytes:
    at, lines = 0.0, []
    # Times that differ by less than the path's nanosecond in some, so that they are equal there.
    step = rng.choice([500, 500, 0.5, 1e-5, 1e-6, 4e-7, 1e-7, 0])
    for _ in range(rng.choice([1, 2, 3, 4])):
        packets = rng.choice([0, 1, 2, 3, 4, 5, 6, 7])
        offsets = sorted(round(rng.uniform(0, 9), rng.randrange(1, 4)) for _ in range(packets))
        lines.append(
            " ".join(_decimals(each) for each in [at, rng.randrange(50), *(offsets or [0])])
        )
        at += step
    end = rng.choice(["\n", "\n", "\r\n"])
    text = (end.join(lines) + rng.choice([end, ""])).encode()
    return text if rng.random() < 0.5 else changed(rng, text)


def _decimals(value: float) -> str:
    """Without an exponent, which neither plane reads."""
    return f"{value:.7f}".rstrip("0").rstrip(".")


def accepts(stages: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """What the data plane says of these stages."""
    return subprocess.run(
        [str(find_binary()), "stages", *stages],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=TEST_TIMEOUT_S,
        check=False,
    )


FORMS: dict[str, tuple[Callable[[random.Random], bytes], Callable[[bytes], None], str]] = {
    "opportunities": (opportunities, read_opportunities, "trace {}"),
    "light": (trains, read_light, "cell {} " + HEAVY),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_both_planes_accept_the_same_files(form, tmp_path):
    make, read, stage = FORMS[form]
    (tmp_path / HEAVY).write_bytes(b"1\n2\n")
    taken, refused = dict[str, bytes](), dict[str, tuple[bytes, str]]()
    for seed in range(OF_EACH):
        content = make(random.Random(seed))
        name = f"{seed}.txt"
        (tmp_path / name).write_bytes(content)
        try:
            read(content)
            taken[name] = content
        except TraceError as error:
            refused[name] = (content, str(error))
    # Both ways are tried, or the test would say little.
    assert min(len(taken), len(refused)) > OF_EACH / 8
    said = accepts([stage.format(name) for name in taken], tmp_path)
    wrong = {} if said.returncode == 0 else {"accepted by Python alone": said.stderr}
    for name, (content, why) in refused.items():
        if accepts([stage.format(name)], tmp_path).returncode == 0:
            wrong[name] = f"{content[:80]!r} is refused by Python alone: {why}"
    assert not wrong, wrong


def test_the_delays_that_are_written_are_read(tmp_path):
    rng = np.random.default_rng(5)
    values = np.concatenate((rng.uniform(0, 60_000, 1000), [0, 1e-7, 5e-7, 60_000, 1e-6]))
    (tmp_path / "a.delays").write_bytes(micro_lines(values))
    said = accepts(["jitter recorded a.delays 10ms"], tmp_path)
    assert said.returncode == 0, said.stderr
