"""A network, and its conversion to the lab's path."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Self

from eyelevel.base.json_types import JsonObject
from eyelevel.base.settings import (
    LISTED,
    About,
    Checked,
    DurationMs,
    RateBitS,
    Settings,
    Share,
    SizeBytes,
)
from eyelevel.plan.networks.cross_traffic import CrossTraffic, settling_s
from eyelevel.plan.networks.stages import DIGEST, SYNTH, Stage, StagesRead, describe, with_files
from eyelevel.plan.traces.spec import SynthSpec


def _kinds(value: object) -> object:
    """Convert a single table to a list with it, and `none` to an empty list."""
    if value == "none":
        return []
    return [value] if isinstance(value, dict) else value


CrossTraffics = Annotated[tuple[CrossTraffic, ...], LISTED, Checked(_kinds)]

_Rate = Annotated[
    RateBitS, About("of a link; of one whose rate varies its trace's mean, which sizes queues")
]
_Loss = Annotated[Share, About("the chance that one packet is lost in this direction")]
_TraceDigest = Annotated[
    str | None, About("the digest of a recorded packet-delivery trace's file", plan=False)
]
_Synth = Annotated[
    SynthSpec | None, About("the generator's settings of a made packet-delivery trace", plan=False)
]
_Stages = Annotated[
    tuple[Stage, ...] | None,
    LISTED,
    About(
        "all that a network does which a plan spells out stage by stage, files by their digests; "
        "the numbers above are then what these come to, 0 the rate of a way without a link",
        plan=False,
    ),
]


VARYING_STAGES = ("trace", "cell", "schedule")
"""Stages whose rate varies over time."""


@dataclass(frozen=True)
class Network(Settings):
    """An emulated access network.

    A varying rate follows a trace, recorded or synthetic; a setting that is None has no effect.
    """

    name: str
    rate_down_bit_s: _Rate
    rate_up_bit_s: _Rate
    rtt_ms_min: Annotated[DurationMs, About("the round trip with empty queues")]
    queue_ms: Annotated[DurationMs, About("drop-tail, in each direction, in time at its rate")]
    loss_down: _Loss = 0.0
    loss_up: _Loss = 0.0
    queue_bytes_min: Annotated[
        SizeBytes | None, About("a queue holds at least this much", plan=False)
    ] = None
    trace_down_sha256: _TraceDigest = None
    trace_up_sha256: _TraceDigest = None
    synth_down: _Synth = None
    synth_up: _Synth = None
    stages_down: _Stages = None
    stages_up: _Stages = None
    cross_traffic: Annotated[CrossTraffics | None, About("bulk transfers beside the page")] = None

    @classmethod
    def of_stages(
        cls,
        name: str,
        down: StagesRead,
        up: StagesRead,
        cross_traffic: tuple[CrossTraffic, ...] | None = None,
    ) -> Self:
        """Return a network that consists of these stages."""
        return cls(
            name=name,
            rate_down_bit_s=down.rate_bit_s,
            rate_up_bit_s=up.rate_bit_s,
            rtt_ms_min=down.delay_ms_min + up.delay_ms_min,
            queue_ms=max(down.queue_ms_max, up.queue_ms_max),
            stages_down=down.stages,
            stages_up=up.stages,
            cross_traffic=cross_traffic,
        )

    def recorded(
        self, name: str, digests: tuple[str, str], rates_bit_s: tuple[int, int] | None = None
    ) -> "Network":
        """Return the network, renamed, with recorded traces (down, up) instead of a model's.

        The traces are given by digests and mean rates; without rates the network's own stay.
        """
        rates_bit_s = rates_bit_s or (self.rate_down_bit_s, self.rate_up_bit_s)
        return replace(
            self,
            name=name,
            rate_down_bit_s=rates_bit_s[0],
            rate_up_bit_s=rates_bit_s[1],
            trace_down_sha256=digests[0],
            trace_up_sha256=digests[1],
            synth_down=None,
            synth_up=None,
        )

    def settings(self) -> JsonObject:
        """Return all settings but the name, as JSON: the part that a trial's hash covers."""
        return self.stated(without=("name",))

    @property
    def down_mbit_s(self) -> float:
        """Downlink rate, Mbit/s."""
        return self.rate_down_bit_s / 1e6

    @property
    def loss_two_way(self) -> float:
        """Probability that a packet or its answer is lost."""
        return 1 - (1 - self.loss_down) * (1 - self.loss_up)

    @property
    def is_staged(self) -> bool:
        """Whether the network is given by stages."""
        return self.stages_down is not None

    @property
    def delay_up_ms_min(self) -> float:
        """Minimum upstream delay, ms; 0 for a network of stages, since its split is unknown."""
        return 0.0 if self.is_staged else self.rtt_ms_min / 2

    @property
    def is_plain(self) -> bool:
        """Whether rates, round trip, queue and loss describe the network completely."""
        return self.course() == "constant" and not self.cross_traffic

    @property
    def varies(self) -> bool:
        """Whether the rate of a direction varies over time."""
        stages = (*(self.stages_down or ()), *(self.stages_up or ()))
        by_stage = any(stage["stage"] in VARYING_STAGES for stage in stages)
        return by_stage if self.is_staged else self.course() != "constant"

    def link_key(self) -> str:
        """Return a key of all settings but the round trip, equal for the same link."""
        settings: JsonObject = {**self.settings(), "rtt_ms_min": None}
        for way in ("stages_down", "stages_up"):
            stages: Sequence[Stage] = settings[way] or ()
            settings[way] = [stage for stage in stages if stage["stage"] != "delay"]
        return json.dumps(settings, sort_keys=True)

    def grid_kinds(self) -> list[tuple["Network", float, float | None]]:
        """Return the settings that a grid of rates by round trips shares with this network.

        Each is: the network without rate and round trip, the uplink rate as a share of the
        downlink's, and the queue, ms, or None for one round trip.
        """
        same = replace(
            self, name="", rate_down_bit_s=0, rate_up_bit_s=0, rtt_ms_min=0.0, queue_ms=0.0
        )
        up_share = round(self.rate_up_bit_s / max(1, self.rate_down_bit_s), 6)
        queues = [self.queue_ms, *([None] if self.queue_ms == self.rtt_ms_min else [])]
        return [(same, up_share, queue) for queue in queues]

    @property
    def settling_s(self) -> float:
        """Seconds for which cross traffic runs before the page is requested; 0 without any."""
        return settling_s(self.rtt_ms_min, self.queue_ms) if self.cross_traffic else 0.0

    def course(self) -> str:
        """Describe for tables how the rates vary over time.

        A synthetic trace is marked as a model.
        """
        if self.is_staged:
            return "stages"
        made = self.synth_down or self.synth_up
        words = ["recorded"] if self.trace_down_sha256 or self.trace_up_sha256 else []
        words += [f"{made.model} model"] if made else []
        return " and ".join(words) or "constant"

    def capacities_kb(self) -> dict[str, float]:
        """Return the downlink's capacity in kB without and with its queue.

        Returns {} for a network of stages.
        """
        if self.is_staged or not self.rate_down_bit_s:
            return {}
        wire = self.rate_down_bit_s * self.rtt_ms_min / 2 / 8e6
        return {"the wire": wire, "wire and queue": wire + self.down_mbit_s * self.queue_ms / 8}

    def described(self) -> str:
        """Return the settings in one line."""
        kinds = self.cross_traffic or ()
        kinds_text = [f"{kind.flows} {kind.congestion_control} {kind.direction}" for kind in kinds]
        beside = f"; beside it {', '.join(kinds_text)}" if kinds_text else ""
        if self.stages_down is not None and self.stages_up is not None:
            return f"down: {describe(self.stages_down)}; up: {describe(self.stages_up)}{beside}"
        loss = "no random loss"
        if self.loss_down or self.loss_up:
            down, up = self.loss_down, self.loss_up
            loss = f"{down * 100:.3g} % of packets lost down, {up * 100:.3g} % up"
        course = self.course()
        varying = "" if course == "constant" else f" in the mean ({course})"
        digits = "g" if course == "constant" else ".3g"
        up_mbit_s = self.rate_up_bit_s / 1e6
        return (
            f"{self.down_mbit_s:{digits}} Mbit/s down, {up_mbit_s:{digits}} up{varying}, "
            f"{self.rtt_ms_min:g} ms round trip, {self.queue_ms:g} ms queue, {loss}{beside}"
        )

    def cells(self) -> dict[str, str]:
        """Return the network's row in tables, by heading."""
        down, up = (f"{loss * 100:.3g}" for loss in (self.loss_down, self.loss_up))
        return {
            "name": self.name,
            "down Mbit/s": f"{self.down_mbit_s:g}",
            "up Mbit/s": f"{self.rate_up_bit_s / 1e6:g}",
            "RTT ms": f"{self.rtt_ms_min:g}",
            "queue ms": f"{self.queue_ms:g}",
            "loss %": down if down == up else f"{down} / {up}",
            # One word, for narrow terminals; the group's source names the model.
            "course": "model" if "model" in self.course() else self.course(),
        }

    def refusal(self) -> str:
        """Return why no link can have these values; "" if one can, or if stages are given."""
        if self.is_staged:
            return ""
        if self.queue_ms <= 0:
            return "`queue_ms` must be above 0: a link without a queue drops every packet"
        if not (self.rate_down_bit_s > 0 and self.rate_up_bit_s > 0):
            return "its rates must be above 0"
        return ""

    def stages_as_read(self, way: str) -> JsonObject:
        """Return one direction's stages, `down` or `up`, and their combined values.

        These are a `StagesRead` without its files. Of both directions only the sum of delays and
        the larger queue are known.
        """
        return {
            "stages": getattr(self, f"stages_{way}"),
            "rate_bit_s": getattr(self, f"rate_{way}_bit_s"),
            "delay_ms_min": self.rtt_ms_min if way == "down" else 0.0,
            "queue_ms_max": self.queue_ms,
        }

    def farther(self, own_rtt_ms: float) -> "Network":
        """Return the network as seen by an origin that is `own_rtt_ms` farther away."""
        return replace(self, rtt_ms_min=self.rtt_ms_min + own_rtt_ms)

    def file_digests(self) -> list[str]:
        """Return the digests of all files that the network needs."""
        digests = [digest for digest in (self.trace_down_sha256, self.trace_up_sha256) if digest]

        def note(digest: str) -> str:
            digests.append(digest)
            return digest

        for stages in (self.stages_down, self.stages_up):
            with_files(stages or (), note)
        return digests


def loss_of_each_direction(loss_two_way: float) -> float:
    """Return the loss of each direction if a request or its response is lost with `loss_two_way`.

    Both arrive with (1 - x)^2 = 1 - loss_two_way (Wolsing et al. 2019, section 3.2).
    """
    # Without this case, 0 would become -0.0 in hashes and tables.
    return -math.expm1(math.log1p(-loss_two_way) / 2) if loss_two_way else 0.0


def lab_path(network: Network, trace_files: Mapping[str, str] | None = None) -> JsonObject:
    """Return the lab's `path` (spec/lab-events.md): the stages of both directions.

    Files are given by path, synthetic traces by their values. `trace_files`: path of each recorded
    trace by digest; raises `KeyError` if one is missing.
    """
    return {
        way: [_play(stage) for stage in with_files(stages, (trace_files or {}).__getitem__)]
        for way, stages in as_stages(network).items()
    }


def as_stages(network: Network) -> dict[str, list[Stage]]:
    """Return the stages of `down` and `up`, in the order in which a packet meets them.

    Files are given by digest, synthetic traces by their generator's settings. Downstream: delay,
    then queue and link, then loss, as in the paper; upstream the reverse. The minimum RTT is split
    evenly. A direction without loss has no loss stage.
    """
    if network.stages_down is not None and network.stages_up is not None:
        return {"down": list(network.stages_down), "up": list(network.stages_up)}
    delay = {"stage": "delay", "delay_ms": network.rtt_ms_min / 2}
    down = _link(network, network.rate_down_bit_s, network.trace_down_sha256, network.synth_down)
    up = _link(network, network.rate_up_bit_s, network.trace_up_sha256, network.synth_up)
    return {
        "down": [delay, down, *_loss(network.loss_down)],
        "up": [*_loss(network.loss_up), up, delay],
    }


def trace_stage(trace: object) -> JsonObject:
    """Return a `trace` stage for a file or a list of opportunities, with an unbounded queue."""
    return {"stage": "trace", "trace": trace}


def _play(stage: Stage) -> Stage:
    """Return the stage as the data plane takes it, with a synthetic trace generated."""
    if SYNTH not in stage:
        return stage
    # Importing numpy takes longer than starting a path; few paths have a synthetic trace.
    from eyelevel.plan.traces.models import synthesise

    trace = synthesise(SynthSpec.read(stage[SYNTH])).tolist()
    return {**trace_stage(trace), "queue": stage["queue"]}


def _link(
    network: Network, rate_bit_s: int, trace_sha256: str | None, synth: SynthSpec | None
) -> JsonObject:
    queue = _queue(network, rate_bit_s)
    if trace_sha256 is not None:
        return {**trace_stage(f"{DIGEST}{trace_sha256}"), "queue": queue}
    if synth is not None:
        return {"stage": "trace", SYNTH: synth.stated(), "queue": queue}
    return {"stage": "rate", "rate_bit_s": rate_bit_s, "queue": queue}


def _queue(network: Network, rate_bit_s: int) -> JsonObject:
    if network.queue_bytes_min is None:
        return {"discipline": "droptail", "limit_ms": network.queue_ms}
    return {"discipline": "droptail", "limit_bytes": queue_bytes(network, rate_bit_s)}


def queue_bytes(network: Network, rate_bit_s: int) -> int:
    """Return the queue of a direction with this rate, bytes."""
    in_time = math.ceil(rate_bit_s * network.queue_ms / 8000)
    return max(in_time, network.queue_bytes_min or 0)


def _loss(probability: float) -> list[JsonObject]:
    return [{"stage": "loss", "probability": probability}] if probability > 0 else []
