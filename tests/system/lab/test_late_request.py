"""How long an urgent request waits that comes while an image flows, over TCP and over QUIC.

The server's own count of unsent bytes decides it in one transfer; the path's count of the bytes
that leave in between confirms it."""

import statistics
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from eyelevel.analysis.pathlog import read_arrivals
from eyelevel.calibration.level.page_values import late_values, read_arrival_ns
from eyelevel.calibration.validation.bulk import LATE_URL, bulk_site, transfer_with_report
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import Stack

BODY_BYTES, LATE_BYTES = 400_000, 2_000
LATE_AFTER_BYTES = 60_000
STEP_BYTES = 1_777
"""Between the tries, so that they meet the servers in different states."""
FEW_TRIES = 3
"""The transfers of a bound, whose median counts: a busy machine can leave more packets on their way
to the path than two."""
TRIES = 12
"""Of the means: bytes are counted in whole packets, and over da2gc 12 tries were 15,000 to 18,000
over TCP and 11,840 to 16,280 over QUIC, 2,300 apart in the mean with a standard error of 500."""
APART_BYTES_MAX = 4_096
UNSENT_BYTES_MAX = 16_384
PACKET_BYTES = 1_500

pytestmark = pytest.mark.usefixtures("labs")


def lossless(name: str) -> Network:
    """Return a network without loss, so that packets leave and arrive in one order."""
    return replace(NETWORKS_BY_NAME[name], loss_down=0.0, loss_up=0.0, queue_ms=2000.0)


def measure_late(
    folder: Path, network: Network, stack: Stack, tries: int
) -> tuple[list[float], int]:
    """Return each try's late bytes and the most that the scheduler had unsent in any."""
    site, url = bulk_site(folder, BODY_BYTES, late_bytes=LATE_BYTES)
    found, most = [], 0
    for number in range(tries):
        with TemporaryDirectory() as text:
            told, summary = transfer_with_report(
                lab_path(network),
                lab_stack(stack, network),
                site,
                url,
                seed=number,
                bytes_max=BODY_BYTES,
                duration_ms=20_000,
                logs=Path(text),
                late=(LATE_URL, LATE_AFTER_BYTES + number * STEP_BYTES),
            )
            down = read_arrivals((Path(text) / "down.log").read_bytes(), "down.log")
        request = next(each for each in summary.requests if each["url"] == LATE_URL)
        found.append(late_values(told["late"], read_arrival_ns(request), down)["late_bytes"])
        most = max(most, *(c["in_force"]["unsent_bytes_max"] for c in summary.connections))
    return found, most


@pytest.mark.parametrize("stack", ["tcp+", "quic"])
def test_a_late_urgent_request_waits_for_what_a_server_may_have_unsent(
    tmp_path: Path, stack: str
) -> None:
    late_bytes, most = measure_late(tmp_path, lossless("lte"), STACKS_BY_NAME[stack], FEW_TRIES)
    assert most <= UNSENT_BYTES_MAX
    # With the packets' heads, and the packets that were on their way to the path.
    assert statistics.median(late_bytes) <= UNSENT_BYTES_MAX * 1.05 + 2 * PACKET_BYTES


def test_more_unsent_shows_in_the_record_and_on_the_path(tmp_path: Path) -> None:
    deep = replace(STACKS_BY_NAME["tcp+"], unsent_bytes_max=65_536)
    late_bytes, most = measure_late(tmp_path, lossless("lte"), deep, FEW_TRIES)
    assert most > 3 * UNSENT_BYTES_MAX
    assert statistics.median(late_bytes) > UNSENT_BYTES_MAX * 1.05 + 2 * PACKET_BYTES


@pytest.mark.full
@pytest.mark.alone
@pytest.mark.parametrize("name", ["da2gc", "lte"])
def test_it_waits_for_as_many_bytes_over_tcp_as_over_quic(tmp_path: Path, name: str) -> None:
    network = lossless(name)
    (tcp, _), (quic, _) = (
        measure_late(tmp_path, network, STACKS_BY_NAME[stack], TRIES) for stack in ("tcp+", "quic")
    )
    apart = statistics.fmean(tcp) - statistics.fmean(quic)
    assert abs(apart) <= APART_BYTES_MAX, (tcp, quic)
