"""Options that describe a network: the words of `eyelevel path`, the same for every command.

Parse the round trips of `eyelevel load --origin-rtt`.
"""

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from typing import Annotated

import typer

from eyelevel.base.errors import PlanError
from eyelevel.plan.networks.compose import DEFAULT_NETWORK, NetworkWords
from eyelevel.plan.networks.origin_rtt import RECORDED, OriginRtts, origin_rtts, own_rtt_of_word

# Help and metavar of each option, by field of NetworkWords.
_OPTION_TEXTS = {
    "network": (
        "A network from `eyelevel list networks`, or das-RATE-RTT. With none of these options "
        "it is {default}.",
        "NAME",
    ),
    "traces": (
        "A folder of recorded traces, such as Mahimahi's, to use instead of the model of an "
        "operator's --network (verizon-lte, ...).",
        "FOLDER",
    ),
    "rtt": (
        "Without --network: the minimum round trip, half of it each way, such as 40ms.",
        "TIME",
    ),
    "down": (
        'More stages toward the client: "rate 10 Mbit/s, queue droptail 50ms, loss 1%".',
        "STAGES",
    ),
    "up": ("The same toward the servers; packets pass these first.", "STAGES"),
    "trace_down": (
        "Without --network: a link that follows a packet-delivery trace in Mahimahi's format.",
        "FILE",
    ),
    "trace_up": ("The same toward the servers.", "FILE"),
}


def with_network_options(
    default: str = DEFAULT_NETWORK,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Return a decorator that replaces a `NetworkWords` parameter by one option per field.

    `default`: the network used without any option, for the help.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        parameters: list[inspect.Parameter] = []
        place = ""
        for parameter in signature.parameters.values():
            if parameter.annotation is NetworkWords:
                place = parameter.name
                parameters += [_parameter(field.name, default) for field in fields(NetworkWords)]
            else:
                parameters.append(parameter)

        @wraps(command)
        def with_options(**given: object) -> None:
            given_words = {
                field.name: given.pop(field.name, None) for field in fields(NetworkWords)
            }
            words = {
                name: None if text is None else str(text) for name, text in given_words.items()
            }
            command(**given, **{place: NetworkWords(**words)})

        with_signature = signature.replace(parameters=parameters)
        setattr(with_options, "__signature__", with_signature)  # noqa: B010
        return with_options

    return decorate


def _parameter(name: str, default: str) -> inspect.Parameter:
    help_text, stands_for = _OPTION_TEXTS[name]
    help_text = help_text.format(default=default)
    option = typer.Option(f"--{name.replace('_', '-')}", help=help_text, metavar=stands_for)
    return inspect.Parameter(
        name,
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=None,
        annotation=Annotated[str | None, option],
    )


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


def _check(value: float | str | dict[str, float | str]) -> OriginRtts:
    try:
        return origin_rtts(value)
    except ValueError as error:
        raise PlanError([f"--origin-rtt: {error}"]) from error
