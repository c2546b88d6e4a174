"""A network, and how it becomes the lab's path."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

from eyelevel.networks.cross_traffic import CrossTraffic
from eyelevel.networks.stages import Stage, with_files
from eyelevel.traces.spec import SynthSpec


@dataclass(frozen=True)
class Network:
    """An emulated access network.

    Rates in bit/s, `rtt_ms_min` the round trip with empty queues, `queue_ms` the drop-tail queue of
    each direction, in time at the direction's rate. `loss_down` and `loss_up` are the chances that
    one packet is lost in that direction.

    `queue_bytes_min`: the queue holds at least this much. A direction whose rate varies follows a
    packet-delivery trace, recorded (`trace_down_sha256`: the digest of its file) or made
    (`synth_down`: the generator's settings); its `rate_down_bit_s` is then the trace's mean, by
    which the queue and TCP's buffers are sized. The same for up.

    `stages_down` and `stages_up`: all that a network does that a plan spells out stage by stage,
    files by their digests; the numbers above are then what these come to, 0 the rate of a direction
    without a link. `cross_traffic`: bulk transfers beside the page.
    """

    name: str
    rate_down_bit_s: int
    rate_up_bit_s: int
    rtt_ms_min: float
    queue_ms: float
    loss_down: float = 0.0
    loss_up: float = 0.0
    queue_bytes_min: int | None = None
    trace_down_sha256: str | None = None
    trace_up_sha256: str | None = None
    synth_down: SynthSpec | None = None
    synth_up: SynthSpec | None = None
    stages_down: tuple[Stage, ...] | None = None
    stages_up: tuple[Stage, ...] | None = None
    cross_traffic: tuple[CrossTraffic, ...] | None = None

    def settings(self) -> dict[str, Any]:
        """Everything but the name: what a trial's hash covers. What is not set is left out."""
        return {
            key: value for key, value in asdict(self).items() if key != "name" and value is not None
        }

    @classmethod
    def of_settings(cls, name: str, settings: Mapping[str, Any]) -> Self:
        """The reverse of `settings`."""
        values = dict(settings)
        for key in ("synth_down", "synth_up"):
            if key in values:
                values[key] = SynthSpec(**values[key])
        for key in ("stages_down", "stages_up"):
            if key in values:
                values[key] = tuple(values[key])
        if "cross_traffic" in values:
            kinds = values["cross_traffic"]
            values["cross_traffic"] = tuple(CrossTraffic.of_settings(kind) for kind in kinds)
        return cls(name=name, **values)

    def course(self) -> str:
        """How the rates go over time, in one word for tables."""
        if self.stages_down is not None:
            return "stages"
        if self.trace_down_sha256 or self.trace_up_sha256:
            return "recorded"
        made = self.synth_down or self.synth_up
        return made.model if made else "constant"


def loss_of_each_direction(loss_two_way: float) -> float:
    """The loss of each direction when a request or its response is lost with `loss_two_way`.

    Both arrive with (1 - x)^2 = 1 - loss_two_way (Wolsing et al. 2019, section 3.2).
    """
    # Without the case, 0 would come out as -0.0 and stand so in hashes and tables.
    return -math.expm1(math.log1p(-loss_two_way) / 2) if loss_two_way else 0.0


def lab_path(network: Network, trace_files: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The lab's `path` (spec/lab-events.md): stages in the order in which a packet meets them.

    Downstream delay, then queue and link, then loss, as in the paper; upstream the reverse. The
    minimum RTT is split evenly. A direction without loss has no loss stage. `trace_files`: the file
    of each recorded trace by its digest; KeyError where the network needs one that is not there.
    """
    files = trace_files or {}
    if network.stages_down is not None and network.stages_up is not None:
        return {
            "down": _with_names(network.stages_down, files),
            "up": _with_names(network.stages_up, files),
        }
    delay = {"stage": "delay", "delay_ms": network.rtt_ms_min / 2}
    down = _link(
        network,
        network.rate_down_bit_s,
        network.trace_down_sha256 and files[network.trace_down_sha256],
        network.synth_down,
    )
    up = _link(
        network,
        network.rate_up_bit_s,
        network.trace_up_sha256 and files[network.trace_up_sha256],
        network.synth_up,
    )
    return {
        "down": [delay, down, *_loss(network.loss_down)],
        "up": [*_loss(network.loss_up), up, delay],
    }


def _with_names(stages: Sequence[Stage], files: Mapping[str, str]) -> list[Stage]:
    return list(with_files(stages, files.__getitem__))


def _link(
    network: Network, rate_bit_s: int, trace_file: str | None, synth: SynthSpec | None
) -> dict[str, Any]:
    queue = _queue(network, rate_bit_s)
    if trace_file is not None:
        return {"stage": "trace", "trace": trace_file, "queue": queue}
    if synth is not None:
        # numpy takes longer to import than a path takes to start; most paths need no made trace.
        from eyelevel.traces.synth import synthesise

        return {"stage": "trace", "trace": synthesise(synth).tolist(), "queue": queue}
    return {"stage": "rate", "rate_bit_s": rate_bit_s, "queue": queue}


def _queue(network: Network, rate_bit_s: int) -> dict[str, Any]:
    if network.queue_bytes_min is None:
        return {"discipline": "droptail", "limit_ms": network.queue_ms}
    return {"discipline": "droptail", "limit_bytes": queue_bytes(network, rate_bit_s)}


def queue_bytes(network: Network, rate_bit_s: int) -> int:
    """The queue of a direction with this rate."""
    in_time = math.ceil(rate_bit_s * network.queue_ms / 8000)
    return max(in_time, network.queue_bytes_min or 0)


def _loss(probability: float) -> list[dict[str, Any]]:
    return [{"stage": "loss", "probability": probability}] if probability > 0 else []
