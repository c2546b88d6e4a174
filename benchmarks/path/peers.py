"""Start the peers that ours is measured against: a bare veth pair, and Mahimahi if it is
installed."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.path.figure import Figure

STARTS = 15
PINGER = Path(__file__).parent / "ping_inside.py"
VETH = """
ip link add near type veth peer name far
unshare --net sleep 600 &
holder=$!
while [ "$(readlink /proc/$holder/ns/net)" = "$(readlink /proc/$$/ns/net)" ]; do sleep 0.01; done
ip link set far netns $holder
nsenter --target $holder --net sh -c 'ip address add 10.9.0.1/24 dev far; ip link set far up'
ip address add 10.9.0.2/24 dev near
ip link set near up
echo ready
# Fails at the end of input, which is when to go on.
read -r _ || kill $holder
"""


@contextmanager
def bare_veth() -> Iterator[tuple[tuple[str, ...], str]]:
    """Two namespaces joined by a veth pair: a command's prefix, and the far end's address."""
    command = ["unshare", "--user", "--map-root-user", "--net", "sh", "-e", "-c", VETH]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdin is not None and holder.stdout is not None
    try:
        if holder.stdout.readline() != "ready\n":
            raise RuntimeError("a veth pair cannot be made here; its message stands above")
        enter = ["nsenter", "--target", str(holder.pid), "--user", "--net"]
        yield (*enter, "--preserve-credentials"), "10.9.0.1"
    finally:
        holder.stdin.close()
        holder.wait(timeout=10)


def peers() -> Iterator[Figure]:
    """Mahimahi's own start and ping, on this machine and now."""
    if not shutil.which("mm-delay"):
        print("Mahimahi is not installed: its column is what was published", file=sys.stderr)
        return
    starts_ms = []
    for _ in range(STARTS):
        began_ns = time.time_ns()
        done = subprocess.run(
            ["mm-delay", "20", "date", "+%s%N"], stdout=subprocess.PIPE, check=True
        )
        starts_ms.append((int(done.stdout) - began_ns) / 1e6)
    yield Figure("Mahimahi: until a command runs inside, ms", "", f"{sorted(starts_ms)[7]:.1f}")
    script = f'exec {sys.executable} {PINGER} "$MAHIMAHI_BASE" 500 0.02'
    done = subprocess.run(
        ["mm-delay", "20", "sh", "-c", script],
        stdout=subprocess.PIPE,
        check=True,
        env=dict(os.environ),
    )
    rtts_ms = sorted(json.loads(done.stdout))
    mean = sum(rtts_ms) / len(rtts_ms) - 40
    yield Figure("Mahimahi: ping beyond 40 ms, mean, ms", "", f"{mean:.4f}")
    p99 = rtts_ms[int(len(rtts_ms) * 0.99)] - 40
    yield Figure("Mahimahi: ping beyond 40 ms, p99, ms", "", f"{p99:.4f}")
