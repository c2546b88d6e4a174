"""List presets (`eyelevel list`)."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Annotated

import typer

from eyelevel.base.errors import PlanError, unknown
from eyelevel.base.json_types import JsonObject
from eyelevel.cli.output import print_json, results, table
from eyelevel.plan.browser import DEVICES
from eyelevel.plan.networks.network import Network
from eyelevel.plan.networks.presets import GROUPS, OPERATOR, get_network, link_of
from eyelevel.plan.presets import PRESETS
from eyelevel.plan.stack_presets import STACKS
from eyelevel.sites.corpora.pages import PUBLISHED_LISTS
from eyelevel.sites.corpora.synthetic import SYNTHETIC_CORPORA
from eyelevel.sites.recorded import list_shipped

_WHOLE = ("name", "course", "group")
GRID = "das"
"""Group of a hundred networks, which is listed as one line."""

_GRID_HINT = (
    "Rates are in Mbit/s, for a model its mean rate. The grid das-RATE-RTT has 100 networks "
    "(eyelevel list networks das), and any other rate and round trip can be named in the same "
    "way: das-1.7-151. Operators' links take any round trip: verizon-lte-300."
)


@dataclass(frozen=True)
class Listed:
    """One line: its JSON, and its table cells by column."""

    stated: JsonObject
    cells: dict[str, str]


class Kind(StrEnum):
    """A kind of presets that can be listed."""

    networks = "networks"
    stacks = "stacks"
    sites = "sites"
    plans = "plans"
    devices = "devices"
    corpora = "corpora"


_ONE = {
    Kind.networks: "network",
    Kind.stacks: "stack",
    Kind.sites: "site",
    Kind.plans: "plan",
    Kind.devices: "device",
    Kind.corpora: "corpus",
}


def list_presets(
    kind: Annotated[Kind, typer.Argument(help="What to list.")],
    name: Annotated[
        str | None, typer.Argument(help="Only this group, or only names that begin like this.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the available networks, stacks, sites, plan presets, devices or corpora."""
    lines = _LINES[kind]()
    if name:
        names = [line.stated["name"] for line in lines]
        lines = _select_named(lines, name) or _between(kind, name)
        if not lines:
            raise PlanError([f"list {kind.value}: {unknown(_ONE[kind], name, names)}"])
    elif kind is Kind.networks and not as_json:
        lines = [line for line in lines if line.stated["group"] != GRID]
    if as_json:
        print_json([line.stated for line in lines])
    else:
        _print([line.cells for line in lines])
        if kind is Kind.networks and not name:
            results.print(_GRID_HINT)


def _print(rows: list[dict[str, str]]) -> None:
    numbers = tuple(title for title, text in rows[0].items() if text[:1].isdigit())
    listing = table(*rows[0], right=numbers, whole=tuple(rows[0]))
    # Names are for copying, and single words must not be cut: narrow the other columns.
    for column in listing.columns:
        column.no_wrap = column.header in _WHOLE
    for row in rows:
        listing.add_row(*row.values())
    results.print(listing)


def _select_named(lines: list[Listed], name: str) -> list[Listed]:
    group = [line for line in lines if line.stated.get("group") == name]
    return group or [line for line in lines if line.stated["name"].startswith(name)]


def _between(kind: Kind, name: str) -> list[Listed]:
    """Return the network of a name outside of the tables, such as a cell of the grid, or []."""
    network = get_network(name) if kind is Kind.networks else None
    group = OPERATOR if link_of(name) else GRID
    return [_network(network, group)] if network else []


def _networks() -> list[Listed]:
    return [_network(network, group.name) for group in GROUPS for network in group.networks]


def _network(network: Network, group: str) -> Listed:
    return Listed(
        {**network.stated(), "group": group, "course": network.course()},
        {**network.cells(), "group": group},
    )


def _stacks() -> list[Listed]:
    return [Listed(stack.stated(without=("stack_preset",)), stack.cells()) for stack in STACKS]


def _sites() -> list[Listed]:
    lines = []
    for name, path in list_shipped().items():
        info = json.loads(path.with_suffix(".info.json").read_bytes())
        stated = {
            "name": name,
            "path": str(path),
            "objects": info["objects"],
            "origins": len(info["origins"]),
            "body_bytes": info["body_bytes"],
            "digest": info["digest"],
        }
        cells = {
            "name": name,
            "objects": str(stated["objects"]),
            "origins": str(stated["origins"]),
            "kB": f"{stated['body_bytes'] / 1000:.0f}",
            "digest": stated["digest"][:12],
        }
        lines.append(Listed(stated, cells))
    return lines


def _plans() -> list[Listed]:
    both = [{"name": preset.name, "purpose": preset.purpose} for preset in PRESETS]
    return [Listed(name, name) for name in both]


def _devices() -> list[Listed]:
    return [
        Listed(
            {**device.device.stated(), "title": device.title, "source": device.source},
            {**device.device.cells(), "what": device.title},
        )
        for device in DEVICES
    ]


def _corpora() -> list[Listed]:
    made = [
        {"name": each.name, "kind": "made", "sites": len(each.sites), "what": each.purpose}
        for each in SYNTHETIC_CORPORA
    ]
    published = [
        {
            "name": each.name,
            "kind": "list of pages",
            "sites": each.count,
            "what": (
                f"{each.chosen}. The publication names {len(each.named)}; {each.unknown} are "
                "unknown."
            ),
            "source": each.source,
            "named": [asdict(site) for site in each.named],
        }
        for each in PUBLISHED_LISTS.values()
    ]
    columns = ("name", "kind", "sites", "what")
    return [Listed(one, {key: str(one[key]) for key in columns}) for one in (*made, *published)]


_LINES: dict[Kind, Callable[[], list[Listed]]] = {
    Kind.networks: _networks,
    Kind.stacks: _stacks,
    Kind.sites: _sites,
    Kind.plans: _plans,
    Kind.devices: _devices,
    Kind.corpora: _corpora,
}
