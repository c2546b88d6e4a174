"""From the options of `eyelevel path` to the lab's path, checked before anything is made."""

import json
from typing import Any

from eyelevel.lab import LabError, run_tool
from eyelevel.networks import find_network, lab_path

Stages = list[dict[str, Any]]


def path_of_options(
    network: str | None,
    rtt: str | None,
    texts: tuple[str, str],
    traces: tuple[str | None, str | None],
) -> dict[str, Stages]:
    """The lab's `path`; pairs are down and up.

    Downstream a packet meets the preset's stages, the delay, the trace, the text's stages, and
    upstream the same from the other end. Raises LabError or NetworkError, which name the option.
    """
    preset = lab_path(find_network(network)) if network else {"down": [], "up": []}
    delay = _delay(rtt) if rtt else []
    down = [*preset["down"], *delay, *_trace(traces[0], "--trace-down")]
    up = [*_trace(traces[1], "--trace-up"), *delay, *preset["up"]]
    return {
        "down": [*down, *_stages(texts[0], "--down")],
        "up": [*_stages(texts[1], "--up"), *up],
    }


def _delay(rtt: str) -> Stages:
    (stage,) = _stages(f"delay {rtt}", "--rtt")
    return [stage | {"delay_ms": stage["delay_ms"] / 2}]


def _trace(file: str | None, option: str) -> Stages:
    if file is None:
        return []
    # As JSON, since a file's name may hold what separates clauses of the text form.
    return _stages(json.dumps([{"stage": "trace", "trace": file}]), option)


def _stages(text: str, option: str) -> Stages:
    """Parsed and checked by the data plane, which has the one parser."""
    if text == "none":
        return []
    try:
        (stages,) = run_tool(["stages", "--", text])
    except LabError as error:
        raise LabError(f"{option}: {error}") from None
    return stages
