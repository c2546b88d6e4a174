"""`eyelevel list`: the presets."""

import json
from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated, Any

import typer

from eyelevel.cli.output import print_json, results, table
from eyelevel.networks.presets import GROUPS
from eyelevel.plan.devices import DEVICES
from eyelevel.plan.presets import PRESETS
from eyelevel.plan.stack_presets import STACKS
from eyelevel.plan.stacks import congestion_control_said
from eyelevel.sites.recorded import shipped

GRID = "das"
"""The group of a hundred networks, which one line stands for."""

_GRID_HINT = (
    "rates in Mbit/s; and the grid das-RATE-RTT of 100 networks: eyelevel list networks das"
)

Columns = tuple[tuple[str, Callable[[dict[str, Any]], str]], ...]
"""A column's title and how a value becomes its text."""


class Kind(StrEnum):
    """What can be listed."""

    networks = "networks"
    stacks = "stacks"
    sites = "sites"
    plans = "plans"
    devices = "devices"


def list_presets(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    name: Annotated[
        str | None, typer.Argument(help="Only those of this group, or whose name begins so.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the networks, stacks, shipped sites, plan presets or devices."""
    values = _VALUES[kind]()
    if name:
        values = _named(values, name)
    elif kind is Kind.networks and not as_json:
        values = [value for value in values if value["group"] != GRID]
    if as_json:
        print_json(values)
    elif not values:
        results.print(f"no {kind.value}")
    else:
        _print(values, _COLUMNS[kind])
        if kind is Kind.networks and not name:
            results.print(_GRID_HINT)


def _print(values: list[dict[str, Any]], columns: Columns) -> None:
    titles = [title for title, _ in columns]
    numbers = tuple(t for t, text in columns if text(values[0])[:1].isdigit())
    shown = table(*titles, right=numbers)
    # A name is there to be copied: other columns give way.
    shown.columns[0].no_wrap = True
    for value in values:
        shown.add_row(*(text(value) for _, text in columns))
    results.print(shown)


def _named(values: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    group = [value for value in values if value.get("group") == name]
    return group or [value for value in values if value["name"].startswith(name)]


def _networks() -> list[dict[str, Any]]:
    return [
        {
            "name": network.name,
            "group": group.name,
            **network.settings(),
            "course": network.course(),
        }
        for group in GROUPS
        for network in group.networks
    ]


def _stacks() -> list[dict[str, Any]]:
    return [{k: v for k, v in asdict(s).items() if k != "preset"} for s in STACKS]


def _sites() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "path": str(path),
            "objects": info["objects"],
            "origins": len(info["origins"]),
            "body_bytes": info["body_bytes"],
            "digest": info["digest"],
        }
        for name, path in shipped().items()
        if (info := json.loads(path.with_suffix(".info.json").read_bytes()))
    ]


def _plans() -> list[dict[str, Any]]:
    return [{"name": preset.name, "purpose": preset.purpose} for preset in PRESETS]


def _devices() -> list[dict[str, Any]]:
    return [asdict(device) for device in DEVICES]


_VALUES = {
    Kind.networks: _networks,
    Kind.stacks: _stacks,
    Kind.sites: _sites,
    Kind.plans: _plans,
    Kind.devices: _devices,
}


def _yes(value: bool) -> str:
    return "yes" if value else "no"


def _window(stack: dict[str, Any]) -> str:
    window = stack["receive_window_bytes"]
    if window is None:
        return "kernel's" if stack["http_version"] != "h3" else "browser's"
    return f"{window / 2**20:g} MiB"


def _loss(network: dict[str, Any]) -> str:
    down, up = (f"{network[key] * 100:.3g}" for key in ("loss_down", "loss_up"))
    return down if down == up else f"{down} / {up}"


_COLUMNS: dict[Kind, Columns] = {
    Kind.networks: (
        ("name", lambda n: n["name"]),
        ("down", lambda n: f"{n['rate_down_bit_s'] / 1e6:g}"),
        ("up", lambda n: f"{n['rate_up_bit_s'] / 1e6:g}"),
        ("RTT ms", lambda n: f"{n['rtt_ms_min']:g}"),
        ("queue ms", lambda n: f"{n['queue_ms']:g}"),
        ("loss %", _loss),
        ("course", lambda n: n["course"]),
        ("group", lambda n: n["group"]),
    ),
    Kind.stacks: (
        ("name", lambda s: s["name"]),
        ("HTTP", lambda s: s["http_version"].removeprefix("h")),
        ("TLS", lambda s: s["tls_version"]),
        ("congestion", congestion_control_said),
        ("window", lambda s: f"{s['initial_window_packets']}"),
        ("paced", lambda s: _yes(s["pacing"])),
        ("idle restart", lambda s: _yes(s["slow_start_after_idle"])),
        ("first window", _window),
    ),
    Kind.sites: (
        ("name", lambda s: s["name"]),
        ("objects", lambda s: f"{s['objects']}"),
        ("origins", lambda s: f"{s['origins']}"),
        ("kB", lambda s: f"{s['body_bytes'] / 1000:.0f}"),
        ("digest", lambda s: s["digest"][:12]),
    ),
    Kind.devices: (
        ("name", lambda d: d["name"]),
        ("viewport", lambda d: "{} x {}".format(*d["viewport_px"])),
        ("scale", lambda d: f"{d['device_scale']:g}"),
        ("touch", lambda d: _yes(d["mobile"])),
        ("CPU slow-down", lambda d: f"{d['cpu_slowdown']:g}"),
        ("what", lambda d: d["title"]),
    ),
    Kind.plans: (("name", lambda p: p["name"]), ("purpose", lambda p: p["purpose"])),
}
