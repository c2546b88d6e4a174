"""Resolve a plan's tables to networks and stacks: presets with their changes.

The options of `eyelevel path` as keys of a plan's network table, combined as in the command. Cross
traffic in a plan: of one network, or of the whole plan as a twin of each network.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from eyelevel.base.errors import NetworkError, unknown
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.plan.file.diagnostics import KeyedError
from eyelevel.plan.file.model import Based, NetworkKeys, StackKeys
from eyelevel.plan.networks.compose import NetworkWords, WordError, put_together
from eyelevel.plan.networks.cross_traffic import CrossTraffic, check_flows
from eyelevel.plan.networks.network import Network, loss_of_each_direction
from eyelevel.plan.networks.presets import get_network, why_none
from eyelevel.plan.networks.stages import StagesRead
from eyelevel.plan.stack_presets import REFUSED_PRESETS, STACKS_BY_NAME
from eyelevel.plan.stacks import EXTERNAL_SERVER_MARK, RECEIVE_WINDOW_BYTES, Stack


@dataclass(frozen=True)
class TraceFile:
    """A packet-delivery trace that a network names: its path, digest and mean rate."""

    file: str
    sha256: str
    rate_bit_s_mean: int


@dataclass(frozen=True)
class Readers:
    """Functions that read what a plan names; each raises `ValueError` on failure."""

    trace: Callable[[str], TraceFile]
    """Read a trace by file name."""
    stages: Callable[[str], StagesRead]
    """Parse one direction's stages."""
    recordings: Callable[[str, str], tuple[str, str]]
    """Return the recorded files (down, up) of an operator's link, given a folder and the
    network's name.
    """


def network_of(table: NetworkKeys, readers: Readers | None, trace_files: dict[str, str]) -> Network:
    """Return the network that a table describes; raises `ValueError` for a mistake.

    The files of its traces are added to `trace_files` by digest.
    """
    changes = _changes(table)
    base = get_network(table.base) if table.base is not None else None
    if table.base is not None and base is None:
        raise ValueError(why_none(table.base))
    cross_traffic = check_cross_traffic(changes.pop("cross_traffic", None))
    # Presets have no cross traffic, so `none` does not change one.
    further = {"cross_traffic": cross_traffic} if cross_traffic else {}
    name = _name_of("network", table, {**changes, **further})
    words, alone = _take_words(changes, has_base=base is not None)
    network = None if alone else _resolve_keys(name, base, changes, words, readers, trace_files)
    if network is None or words:
        read = readers.stages if readers is not None else None
        network = _with_words(network, name, words, read, trace_files)
    return replace(network, cross_traffic=cross_traffic)


def _resolve_keys(
    name: str,
    base: Network | None,
    changes: JsonObject,
    words: Mapping[str, str],
    readers: Readers | None,
    trace_files: dict[str, str],
) -> Network:
    """Return the network of all keys but the path words: a preset with changes, or all values.

    `words` are the path words that will be added.
    """
    given = list(changes)
    if (folder := changes.pop("traces", None)) is not None:
        changes |= _read_recorded_traces(folder, base, changes, readers)
    if "loss_two_way" in changes:
        if "loss_down" in changes or "loss_up" in changes:
            raise ValueError("give `loss_two_way`, or `loss_down` and `loss_up`, not both")
        loss = loss_of_each_direction(changes.pop("loss_two_way"))
        changes |= {"loss_down": loss, "loss_up": loss}
    for direction in ("down", "up"):
        changes |= _course(changes, direction, base, readers, trace_files)
    if base is not None:
        network = replace(base, name=name, **changes)
    else:
        needed = ("rate_down_bit_s", "rate_up_bit_s", "rtt_ms_min", "queue_ms")
        if absent := [key for key in needed if key not in changes]:
            lacks = f"network `{name}` has no `base` and lacks {', '.join(absent)}"
            alone = (
                f"; or drop {_list_keys(given)}: {_list_keys(words)} can stand alone"
                if words
                else ""
            )
            raise ValueError(lacks + alone)
        network = Network(name=name, **changes)
    if network.queue_ms <= 0:
        raise ValueError("`queue_ms` must be above 0: a link without a queue drops every packet")
    for key in ("rate_down_bit_s", "rate_up_bit_s"):
        if getattr(network, key) == 0:
            raise ValueError(f"`{key}` must be above 0")
    return network


def _list_keys(keys: Iterable[str]) -> str:
    return ", ".join(f"`{key}`" for key in keys)


def _read_recorded_traces(
    folder: str, base: Network | None, changes: JsonMapping, readers: Readers | None
) -> JsonObject:
    """Return the keys of both traces, from a folder with recordings of the link `base`."""
    if base is None:
        raise ValueError('`traces` needs to know whose recordings are meant: `base = "att-lte"`')
    if doubled := [key for key in ("trace_down", "trace_up") if key in changes]:
        raise ValueError(f"`traces` gives both directions' traces; drop `{doubled[0]}`")
    if readers is None:
        raise ValueError("`traces`: folders cannot be read here")
    down, up = readers.recordings(folder, base.name)
    return {"trace_down": down, "trace_up": up}


def _course(
    changes: JsonObject,
    direction: str,
    base: Network | None,
    readers: Readers | None,
    trace_files: dict[str, str],
) -> JsonObject:
    """Return a direction's keys for a trace, or for another rate under a preset's trace model."""
    rate_key, trace_key, synth_key = (
        f"rate_{direction}_bit_s",
        f"trace_{direction}",
        f"synth_{direction}",
    )
    if (named := changes.pop(trace_key, None)) is not None:
        if rate_key in changes:
            raise ValueError(f"`{trace_key}` has a rate of its own; drop `{rate_key}`")
        if readers is None:
            raise ValueError(f"`{trace_key}`: traces cannot be read here")
        trace = readers.trace(named)
        trace_files[trace.sha256] = trace.file
        return {
            rate_key: trace.rate_bit_s_mean,
            f"trace_{direction}_sha256": trace.sha256,
            synth_key: None,
        }
    course = getattr(base, synth_key) if base is not None else None
    if course is not None and rate_key in changes:
        return {synth_key: replace(course, rate_bit_s_mean=changes[rate_key])}
    return {}


def stack_of(table: StackKeys) -> Stack:
    """Return the stack that a table describes; raises `ValueError` for a mistake."""
    changes = _changes(table)
    if table.base is None:
        raise ValueError(f"a stack needs a preset as `base`; known: {', '.join(STACKS_BY_NAME)}")
    if table.base in REFUSED_PRESETS:
        raise ValueError(f"the stack `{table.base}`: {REFUSED_PRESETS[table.base]}")
    if table.base not in STACKS_BY_NAME:
        raise ValueError(unknown("stack", table.base, STACKS_BY_NAME))
    name = _name_of("stack", table, changes)
    if "external_server" in changes:
        name += EXTERNAL_SERVER_MARK
    base = STACKS_BY_NAME[table.base]
    stack = replace(base, name=name, **(_window_of_transport(base, changes) | changes))
    if reason := stack.refusal():
        raise ValueError(reason)
    return stack


def _window_of_transport(base: Stack, changes: JsonMapping) -> JsonObject:
    """Return the receive window if the transport differs from the preset's.

    Over QUIC it is the browser's own; over TCP it is set to the default size.
    """
    over_quic = replace(base, **changes).over_quic
    if base.over_quic == over_quic:
        return {}
    return {"receive_window_bytes": None if over_quic else RECEIVE_WINDOW_BYTES}


def _name_of(kind: str, table: Based, changes: JsonObject) -> str:
    if table.name is None:
        if table.base is None or changes:
            raise ValueError(f"a {kind} that differs from its preset needs its own `name`")
        cell = get_network(table.base) if kind == "network" else None
        return cell.name if cell else table.base
    is_preset = get_network(table.name) if kind == "network" else table.name in STACKS_BY_NAME
    if is_preset and (changes or table.name != table.base):
        raise ValueError(f"`{table.name}` is the name of a preset; give this {kind} another name")
    return table.name


def _changes(table: Based) -> JsonObject:
    return {key: value for key, value in table.given().items() if key not in _NO_SETTINGS}


_NO_SETTINGS = ("name", "base", "weight")


WORDS = ("rtt", "trace_down", "trace_up", "down", "up")
"""Keys that define a network on their own, named like the options."""

ON_TOP = ("down", "up")
"""Keys that add stages to any network, whose traces then replace its links."""


def _take_words(changes: JsonObject, *, has_base: bool) -> tuple[dict[str, str], bool]:
    """Remove the path words from a table's keys; returns them, and whether they are all its keys.

    Raises `KeyedError` if two keys give a round trip.
    """
    others = [key for key in changes if key not in WORDS]
    others = ["base", *others] if has_base else others
    if others and "rtt" in changes:
        raise KeyedError(
            "rtt",
            f"`rtt` and `{others[0]}`: a network that has links of its own has a round trip, too; "
            "`rtt_ms_min` puts another one in its place, and what comes on top of it is "
            '`down = "delay 20ms"` and `up = "delay 20ms"`',
        )
    words = {key: changes.pop(key) for key in (ON_TOP if others else WORDS) if key in changes}
    return words, bool(words) and not others


def _with_words(
    network: Network | None,
    name: str,
    words: Mapping[str, str],
    read: Callable[[str], StagesRead] | None,
    trace_files: dict[str, str],
) -> Network:
    """Return `network`, or an empty one, with the words' stages added, under this name.

    Files are added to `trace_files` by digest. Raises `KeyedError`, and `ValueError` without a
    `read` for stages.
    """
    if read is None:
        named = " and ".join(f"`{word}`" for word in words)
        raise ValueError(f"{named}: stages cannot be read here")
    try:
        return put_together(name, network, NetworkWords(**words), read, trace_files)
    except WordError as error:
        raise KeyedError(error.word, f"`{error.word}`: {error.problem}") from error


TWIN_SUFFIX = "+cross"
BESIDE_THE_PATH = ("name", "weight", "cross_traffic")
"""Keys of a network's table that do not describe its path."""


def check_cross_traffic(
    kinds: tuple[CrossTraffic, ...] | None,
) -> tuple[CrossTraffic, ...] | None:
    """Return the cross traffic, None if it is empty; raises `ValueError` for too many flows."""
    try:
        check_flows(kinds or ())
    except NetworkError as error:
        raise ValueError(str(error)) from error
    return kinds or None


def with_twins(
    networks: Sequence[Network],
    tables: Sequence[NetworkKeys],
    weights: Mapping[str, float],
    cross_traffic: tuple[CrossTraffic, ...] | None,
) -> tuple[tuple[Network, ...], dict[str, float]]:
    """Return each network without cross traffic of its own, followed by a twin with the plan's.

    A twin has its network's weight. Raises `ValueError` if a twin's name is taken.
    """
    if cross_traffic is None:
        return tuple(networks), dict(weights)
    names = {network.name for network in networks}
    twins: list[Network] = []
    shares = dict(weights)
    for network, table in zip(networks, tables, strict=True):
        twins.append(network)
        if "cross_traffic" in table.given():
            continue
        name = network.name + TWIN_SUFFIX
        if name in names:
            raise ValueError(f"`{name}` is the twin of `{network.name}`; rename your network")
        twins.append(replace(network, name=name, cross_traffic=cross_traffic))
        if network.name in shares:
            shares[name] = shares[network.name]
    return tuple(twins), shares
