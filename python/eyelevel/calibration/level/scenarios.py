"""The networks over which two stacks are compared, and the transfers on each."""

from dataclasses import dataclass
from typing import Literal

from eyelevel.plan.networks.network import Network

QUEUE_MS = 1000.0
"""The queue's length: no first window overflows it, so that packets are lost on purpose only."""

FAR = Network("far", 100_000_000, 100_000_000, 200.0, QUEUE_MS)
"""A network on which only round trips matter."""
SLOW = Network("slow", 468_000, 468_000, 262.0, 5 * QUEUE_MS)
"""A network on which bytes matter: Wolsing's DA2GC, without its loss and with a queue that holds a
window."""
LOSSY = Network("lossy", 10_000_000, 10_000_000, 100.0, QUEUE_MS)
"""A network that loses chosen packets."""

Kind = Literal["page", "bulk", "late", "tail", "middle"]


@dataclass(frozen=True)
class Scenario:
    """One measurement over one network.

    `page`: the generated page in Chromium. `bulk`: `body_bytes` with our own client. `tail` and
    `middle`: the same with the last packet, or one in the middle, lost. `late`: an urgent request
    during a body of `body_bytes`. `expected_s`: the time of one run, for the estimate of the time
    left before the first was measured.
    """

    name: str
    network: Network
    kind: Kind
    expected_s: float
    body_bytes: int = 0


SCENARIOS: tuple[Scenario, ...] = (
    Scenario("page on far", FAR, "page", 4.5),
    Scenario("page on slow", SLOW, "page", 7.5),
    Scenario("bulk on far", FAR, "bulk", 2.0, 400_000),
    Scenario("late on slow", SLOW, "late", 5.0, 300_000),
    Scenario("loss at the tail", LOSSY, "tail", 2.5, 20_000),
    Scenario("loss in the middle", LOSSY, "middle", 2.0, 40_000),
)
SCENARIOS_BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
