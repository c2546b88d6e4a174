"""Parse the round trips of `eyelevel load --origin-rtt`."""

from typing import Annotated

import typer

from eyelevel.base.errors import PlanError
from eyelevel.plan.networks.origin_rtt import RECORDED, OriginRtts, origin_rtts, own_rtt_of_word

OriginRttOption = Annotated[
    str | None,
    typer.Option(
        metavar="recorded|HOST=TIME,...",
        help="Origins' own round trips on top of the network's: as in the recording's "
        "handshakes, or per host; `*` means all others.",
    ),
]


def parse_origin_rtt(text: str) -> OriginRtts:
    """Parse `recorded`, one time for all origins, or comma-separated `HOST=TIME`.

    `TIME` may be `recorded`, too; a plain number is in milliseconds. Raises `PlanError`.
    """
    if "=" not in text:
        return _check(own_rtt_of_word(text.strip()))
    found: dict[str, float | str] = {}
    for part in text.split(","):
        host, equals, time = (word.strip() for word in part.partition("="))
        if not (host and equals and time):
            raise PlanError(
                [
                    f"--origin-rtt: `{part.strip()}` is not HOST=TIME; write "
                    f"`cdn.example=20ms`, or `{RECORDED}` for all"
                ]
            )
        if host in found:
            raise PlanError([f"--origin-rtt: this names `{host}` twice; give one time"])
        found[host] = own_rtt_of_word(time)
    return _check(found)


def _check(asked: float | str | dict[str, float | str]) -> OriginRtts:
    try:
        return origin_rtts(asked)
    except ValueError as error:
        raise PlanError([f"--origin-rtt: {error}"]) from error
