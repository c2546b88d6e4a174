"""Additional round trips of single origins: set by host, applied by address; pure.

An origin's own round trip is the part beyond the access network: a handshake with it takes the sum
of the network's `rtt_ms_min` and this. Half of it is added in each direction, downstream before all
stages of the network and upstream after them, which is where an origin is. It is applied to
addresses, not hosts: hosts replayed at one address share a path, and different values for them are
refused.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final, Literal

from annotated_types import Le

from eyelevel.base.errors import NetworkError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.base.settings import IN_MS, Checked, DurationMs

RECORDED: Final = "recorded"
OTHERS = "*"
"""Key for all hosts that are not named."""
OWN_RTT_MS_MAX = 60_000.0
"""Maximum round trip, ms."""

_HOST = re.compile(r"[a-z0-9_]([a-z0-9._-]*[a-z0-9_])?|\[[0-9a-f:.]+\]|\*")
_NUMBER = re.compile(r"[0-9]+(\.[0-9]*)?|\.[0-9]+")
_EXAMPLE = f'write `"{RECORDED}"`, a time, or a table such as {{ "cdn.example" = "20ms" }}'


def origin_rtts(value: object) -> dict[str, float | Literal["recorded"]]:
    """Validate round trips by host or `*`: a number of milliseconds, or `recorded`.

    A single value applies to all hosts. Raises `ValueError` for an invalid host or round trip.
    """
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        value = {OTHERS: value}
    if not isinstance(value, Mapping):
        raise ValueError(f"`{value}` is not a round trip; {_EXAMPLE}")
    if not value:
        raise ValueError(f"it names no host; {_EXAMPLE}")
    for host in value:
        if not _HOST.fullmatch(str(host)):
            bare = str(host).lower().rpartition("://")[2].partition("/")[0].rpartition("@")[2]
            bare = bare if bare.startswith("[") else bare.partition(":")[0]
            hint = f"; write `{bare}`" if _HOST.fullmatch(bare) else ""
            raise ValueError(f"`{host}` is not a host, such as `cdn.example`{hint}")
    return {host: _own_rtt(host, rtt) for host, rtt in value.items()}


def own_rtt_of_word(word: str) -> float | str:
    """Convert a command-line word for `origin_rtts`: a number is in milliseconds, as in a plan."""
    return float(word) if _NUMBER.fullmatch(word) else word


def _own_rtt(host: str, value: object) -> float | Literal["recorded"]:
    if value == RECORDED:
        return RECORDED
    try:
        rtt_ms = IN_MS.quantity(value)
    except ValueError:
        rtt_ms = None
    is_number = isinstance(rtt_ms, int | float) and not isinstance(rtt_ms, bool)
    if not is_number or not 0 <= rtt_ms <= OWN_RTT_MS_MAX:
        raise ValueError(
            f"`{value}` is not a round trip for `{host}`; write `{RECORDED}`, or a time such as "
            f"`20ms`, up to {OWN_RTT_MS_MAX / 1000.0:g}s"
        )
    return float(rtt_ms)


OwnRtt = Literal["recorded"] | Annotated[DurationMs, Le(OWN_RTT_MS_MAX)]
OriginRtts = Annotated[Mapping[str, OwnRtt], Checked(origin_rtts)]
"""Round trips by host, or `*`: milliseconds, or `recorded` for those of the recording's
handshakes.
"""


@dataclass(frozen=True)
class Place:
    """A host of a recording.

    It has the address at which it is replayed, and the minimum round trip of its recorded
    handshakes, None if none was recorded.
    """

    host: str
    address: str
    handshake_rtt_ms_min: float | None = None


def places_of(origins: Sequence[JsonMapping]) -> tuple[Place, ...]:
    """Return the places of a recording's `origins` (spec/archive.md), each host once."""
    found = {
        each["host"]: Place(each["host"], each["address"], each.get("handshake_rtt_ms_min"))
        for each in origins
    }
    return tuple(found.values())


def own_rtts_ms(rtts: OriginRtts, places: Sequence[Place], site: str) -> dict[str, float]:
    """Return the own round trip, ms, of each host of the recording `site` that has one.

    `recorded` is the minimum over the host's address: differences between its hosts are noise.
    Raises `NetworkError`, in one line, if none was recorded, or if hosts of one address would
    differ.
    """
    recorded = _least_by_address(places)
    own: dict[str, float] = {}
    first_there: dict[str, str] = {}
    for place in places:
        wanted = rtts.get(place.host, rtts.get(OTHERS, 0.0))
        if wanted == RECORDED:
            if place.address not in recorded:
                raise NetworkError(
                    f"{site} has no recorded round trip of `{place.host}`: record it with "
                    f'`eyelevel record`, or give one, such as "{place.host}" = "20ms"'
                )
            wanted = recorded[place.address]
        own[place.host] = float(wanted)
        other = first_there.setdefault(place.address, place.host)
        if own[other] != own[place.host]:
            raise NetworkError(
                f"`{other}` and `{place.host}` have one address in {site} ({place.address}), so "
                f"one path leads to both: they cannot have {own[other]:g} and "
                f"{own[place.host]:g} ms; give both the same"
            )
    return {host: rtt_ms for host, rtt_ms in own.items() if rtt_ms}


def hosts_without_rtt(places: Sequence[Place]) -> list[str]:
    """Return the hosts without a recorded handshake of their own or of their address."""
    recorded = _least_by_address(places)
    return [place.host for place in places if place.address not in recorded]


def with_own_rtts(
    path: JsonMapping, own_ms: Mapping[str, float], places: Sequence[Place]
) -> JsonObject:
    """Return a lab's `path` with these hosts' own round trips added.

    Raises `KeyError` for a host without a place.
    """
    address_of = {place.host: place.address for place in places}
    delays_ms = {address_of[host]: rtt_ms / 2 for host, rtt_ms in own_ms.items() if rtt_ms}
    if not delays_ms:
        return dict(path)
    beyond = {"stage": "address_delay", "delays_ms": delays_ms}
    return {**path, "down": [beyond, *path["down"]], "up": [*path["up"], beyond]}


def describe_rtts(rtts: Mapping[str, object] | None) -> str:
    """Describe the round trips in one line."""
    if not rtts:
        return "none"
    parts = [
        f"{'all others' if host == OTHERS else host} {rtt if rtt == RECORDED else f'{rtt:g} ms'}"
        for host, rtt in sorted(rtts.items(), key=lambda item: (item[0] == OTHERS, item[0]))
    ]
    return parts[0].removeprefix("all others ") if list(rtts) == [OTHERS] else ", ".join(parts)


def _least_by_address(places: Sequence[Place]) -> dict[str, float]:
    least: dict[str, float] = {}
    for place in places:
        if (rtt_ms := place.handshake_rtt_ms_min) is not None:
            least[place.address] = min(rtt_ms, least.get(place.address, rtt_ms))
    return least
