"""Generate the presets' reference page."""

from collections.abc import Iterable, Mapping, Sequence

from eyelevel.plan.browser import DEVICES
from eyelevel.plan.networks.presets import (
    DAS_RATES_MBIT_S,
    DAS_RTTS_MS,
    GROUPS,
    LINKS,
    OPERATOR,
    NetworkGroup,
)
from eyelevel.plan.presets import PRESETS
from eyelevel.plan.stack_presets import REFUSED_PRESETS, STACKS
from eyelevel.sites.corpora.pages import PUBLISHED_LISTS
from eyelevel.sites.corpora.synthetic import SYNTHETIC_CORPORA


def presets_page() -> str:
    """Return the text of `docs/reference/presets.md`."""
    devices = [
        {**d.device.cells(), "what it is, and its source": f"{d.title}: {d.source}"}
        for d in DEVICES
    ]
    plans = [(f"`{preset.name}`", preset.purpose) for preset in PRESETS]
    lines = [
        "# Presets",
        "",
        "## Networks",
        "",
        "Each direction has a drop-tail queue. Loss is given per direction: a chance p that a",
        "request packet or its response packet is lost becomes 1 - sqrt(1 - p). If the course is a",
        "model's, the rate is the mean of a synthetic packet-delivery trace (`eyelevel trace",
        "synth`).",
        "",
        *(line for group in GROUPS for line in _group(group)),
        "",
        "## Stacks",
        "",
        *_cells([stack.cells() for stack in STACKS]),
        "",
        "`tcp+0rtt` and `quic+0rtt` also take requests in a resumed connection's first flight.",
        'That needs `visit = "repeat"`; plans refuse them for other visits.',
        "`http1-plain` serves an https recording as its cleartext twin: only the scheme and the",
        "links to its hosts are changed to http.",
        "",
        *[f"`{name}` is refused. {reason}.\n" for name, reason in REFUSED_PRESETS.items()],
        "## Devices",
        "",
        *_cells(devices),
        "",
        "A device's user agent is that of the same version of Chromium on Android. Its screen is",
        "that of the table, whatever the recording had.",
        "",
        "## Plans",
        "",
        *_table(["plan", "what it asks"], plans),
        "",
        "## Corpora",
        "",
        "These are synthetic; `--corpus NAME` uses their sites in place of a preset's own:",
        "",
        *_table(["name", "sites", "what"], _synthetic_rows()),
        "",
        "These are lists of pages; `eyelevel corpus record NAME` records those with an address:",
        "",
        *_table(
            ["name", "sites", "how they were chosen", "source", "named there"],
            _list_published_rows(),
        ),
        "",
        "Written by `python -m eyelevel.cli.reference`; a test compares the two.",
        "",
    ]
    return "\n".join(lines)


def _synthetic_rows() -> list[list[str]]:
    return [[f"`{each.name}`", str(len(each.sites)), each.purpose] for each in SYNTHETIC_CORPORA]


def _list_published_rows() -> list[list[str]]:
    rows = []
    for each in PUBLISHED_LISTS.values():
        named = "; ".join(f"{site.url or site.name} ({site.place})" for site in each.named)
        known = f"{named}. The other {each.unknown} are unknown"
        rows.append([f"`{each.name}`", str(each.count), each.chosen, each.source, known])
    return rows


def _group(group: NetworkGroup) -> list[str]:
    rows = [] if group.name == "das" else [network.cells() for network in group.networks]
    lines = [f"### {group.name}", "", f"Source: {group.source}.", ""]
    if not rows:
        rates = ", ".join(f"{rate:g}" for rate in DAS_RATES_MBIT_S)
        rtts = ", ".join(f"{rtt}" for rtt in DAS_RTTS_MS)
        return [
            *lines,
            f"Rates: {rates}. Minimum RTTs: {rtts}. An example is `das-1.7-150`.",
            "",
            "Any other rate and round trip can be named in the same way: `das-1.7-151`.",
            "",
        ]
    if group.name == OPERATOR:
        whence = [{"rates are": each.source, "course is like": each.course()} for each in LINKS]
        rows = [{**row, **more} for row, more in zip(rows, whence, strict=True)]
    return [*lines, *_cells(rows), ""]


def _cells(rows: Sequence[Mapping[str, str]]) -> list[str]:
    """Return rows of cells as a Markdown table, with names as code."""
    cells = [
        [f"`{text}`" if column == "name" else text for column, text in r.items()] for r in rows
    ]
    return _table(rows[0], cells)


def _table(columns: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    names = list(columns)
    divider = ["---"] * len(names)
    return [f"| {' | '.join(row)} |" for row in (names, divider, *rows)]
