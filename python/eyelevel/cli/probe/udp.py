"""Test whether a network lets QUIC through (`eyelevel probe udp`)."""

import typer

from eyelevel.base.json_types import JsonMapping
from eyelevel.cli.output import hints, print_json, results, table
from eyelevel.lab.prober import probe_events
from eyelevel.probes.udp import PROTOCOLS, Passage, passage

STATUS = {"passes": 0, "blocked": 1, "undetermined": 3}
"""Exit statuses, as for gates: yes, no, inconclusive."""
ASKED = {"protocols": list(PROTOCOLS), "v4": True, "v6": True, "count": 3, "interval_ms": 200}
"""Configuration of the probes of each host."""


def check_udp(config: JsonMapping, *, as_json: bool) -> None:
    """Probe, print the verdict, and exit with its status."""
    with hints.waiting(f"asking {len(config['targets'])} hosts over TCP and QUIC"):
        found = passage(probe_events("probe", {**config, **ASKED}))
    if as_json:
        print_json(found.as_json())
    else:
        _show(found)
    raise typer.Exit(STATUS[found.verdict])


def _show(found: Passage) -> None:
    numbers = ("TLS 1.3", "QUIC", "no answer")
    shown = table("host", "address", *numbers, "offers HTTP/3", "UDP", right=numbers)
    for each in found.hosts:
        counts = (str(count) for count in (each.tls, each.quic, each.quic_silent))
        offers = "yes" if each.offers_h3 else "no"
        shown.add_row(each.host, each.address or "", *counts, offers, each.state)
    results.print(shown)
    results.print(f"QUIC: {found.verdict}: {found.why}", markup=False, soft_wrap=True)
