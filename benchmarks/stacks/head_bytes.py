"""Bytes of all heads of a page, HPACK beside QPACK.

One load each in Chromium over `tcp+` and `quic`, with and without dynamic tables. What is counted
is in each record's connections (`in_force`): field sections as coded, and what QPACK's encoders
put into tables beside them; frame headers and acknowledgements are not. Without names: all shipped
sites. Times do not matter here, so that loads on a busy machine count, too. `--json`: a line each.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from benchmarks.shared.command import parser_of
from eyelevel.load.trial import run_trial
from eyelevel.plan.networks.presets import NETWORKS_BY_NAME
from eyelevel.plan.single_load_plan import one_cell
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.trials import expand
from eyelevel.sites.recorded import list_shipped, open_site

NETWORK = NETWORKS_BY_NAME["cable"]
STACKS = [
    (base, table_bytes) for table_bytes in (None, 0) for base in ("tcp+", "quic")
]  # without a number: the stack's own
UP = ("request_head_bytes", "encoder_received_bytes")
DOWN = ("response_head_bytes", "encoder_sent_bytes")


def main() -> None:
    """Measure and print."""
    parser = parser_of(__doc__)
    parser.add_argument("sites", nargs="*")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    sites = arguments.sites or list(list_shipped())
    if not arguments.json:
        print("| site | requests | HPACK up, B | QPACK up, B | | HPACK down, B | QPACK down, B | |")
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for site in sites:
        found = [load(site, *stack) for stack in STACKS]
        print(json.dumps({"site": site, "loads": found}) if arguments.json else row(site, found))
        sys.stdout.flush()


def load(name: str, base: str, table_bytes: int | None) -> dict[str, Any]:
    """The bytes of one load."""
    site = open_site(name)
    stack = STACKS_BY_NAME[base]
    if table_bytes is not None:
        stack = replace(stack, name=f"{base} {table_bytes}", header_table_bytes=table_bytes)
    (trial,) = expand(one_cell(site.name, [NETWORK], stack, 1, 1), [site.of_plan()])
    record = run_trial(trial, str(site.path.resolve())).record
    return {
        "stack": stack.name,
        "outcome": record["outcome"],
        "requests": len(record["requests"]),
        "connections": len(record["connections"]),
        "up": total(record, UP),
        "down": total(record, DOWN),
    }


def total(record: Mapping[str, Any], keys: tuple[str, ...]) -> int:
    """Over all connections."""
    seen = [connection["in_force"] for connection in record["connections"]]
    return sum(each.get(key) or 0 for each in seen for key in keys)


def row(site: str, found: list[dict[str, Any]]) -> str:
    """Return tables on, and in brackets off; QPACK's bytes over HPACK's."""
    cells = [site, str(found[0]["requests"])]
    for way in ("up", "down"):
        hpack, qpack, hpack_off, qpack_off = (each[way] for each in found)
        cells += [f"{hpack:,} ({hpack_off:,})", f"{qpack:,} ({qpack_off:,})"]
        cells.append(f"{100 * (qpack / hpack - 1):+.1f} %" if hpack else "")
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
