"""Probe one server in a new lab, and all servers block by block."""

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import probe_events
from eyelevel.load.external_server import start_served_lab
from eyelevel.load.servers.known import Served
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.compose import Composed
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.stacks import KeyExchange
from eyelevel.sites.pack import SyntheticExchange, pack_site
from eyelevel.store.disk import temporary_folder

HOST = "lab.example"
ADDRESSES = {"v4": "198.51.100.1", "v6": "2001:db8::1"}
"""The server's address in the lab, by family."""
KINDS = ({"resume_session": True}, {"resume_session": False})
"""The attempts of a visit, the resumed one first: its preceding full connection is also the
server's first, which includes one-time costs, and is left out unless it failed."""


@dataclass(frozen=True)
class Conditions:
    """The conditions of all handshakes of a comparison, besides the network's."""

    chain_bytes: int | None = None
    """The size of the certificate chains; None: as they come."""
    key_exchange: KeyExchange = "hybrid"
    """The key exchange of our servers."""
    lost_down: tuple[int, ...] = ()
    """Packets from the server that are lost, from 1 on."""
    lost_up: tuple[int, ...] = ()
    """Packets from the client that are lost, from 1 on."""

    @property
    def kinds(self) -> Sequence[JsonMapping]:
        """The attempts of a visit: packets are counted over one connection, so it has no other."""
        return KINDS[1:] if self.lost_down or self.lost_up else KINDS

    def path(self, path: JsonMapping) -> JsonMapping:
        """Return the path with these losses at its beginning, in each direction."""
        lost = {"down": self.lost_down, "up": self.lost_up}
        return {
            way: [*_lose(lost[way]), *stages] if way in lost else stages
            for way, stages in path.items()
        }


def _lose(packets: Sequence[int]) -> list[JsonObject]:
    positions = [number - 1 for number in sorted(packets)]
    return [{"stage": "recorded_loss", "positions": positions}] if positions else []


AS_THEY_COME = Conditions()


@dataclass(frozen=True)
class Visit:
    """One server over one protocol in one block."""

    block: int
    served: Served
    protocol: str

    @property
    def place(self) -> tuple[int, str, str]:
        """The key that identifies the visit in its rows."""
        return self.block, self.served.name, self.protocol


def in_order(servers: Sequence[Served], blocks: int, seed: int) -> list[Visit]:
    """Return every server and protocol once per block, each block in an order of its own."""
    visits = []
    for block in range(blocks):
        of_block = [Visit(block, each, name) for each in servers for name in each.protocols]
        random.Random(f"{seed} {block}").shuffle(of_block)
        visits += of_block
    return visits


@contextmanager
def write_generated_site(address: str = ADDRESSES["v4"]) -> Iterator[Path]:
    """Yield a recording of one page of one host, for the certificate and for our server."""
    with temporary_folder("servers") as folder:
        page = SyntheticExchange(
            f"https://{HOST}/", "text/html", b"<!doctype html><title>a</title>"
        )
        out = folder / "site.wacz"
        pack_site(out, [page], title="one page", addresses={HOST: address})
        yield out


@contextmanager
def running(
    served: Served,
    protocol: str,
    site: Path,
    path: JsonMapping,
    network: Network,
    seed: int,
    conditions: Conditions = AS_THEY_COME,
) -> Iterator[tuple[Lab, JsonObject]]:
    """Yield a lab with the server, and the prober's settings: target, protocol, authority.

    Raises LabError if the server does not start; both end with the block.
    """
    stack = served.stack(protocol, conditions.chain_bytes, conditions.key_exchange)
    config = LabConfig(path, seed, str(site), lab_stack(stack, network))
    with start_served_lab(stack, str(site), config) as lab, temporary_folder("probe") as folder:
        authority = folder / "ca.pem"
        authority.write_text(lab.ready.ca_certificate or "", encoding="ascii")
        address = lab.ready.origins[0]["address"]
        target = {"host": HOST, "port": 443, "path": "/", "connect": address}
        known = {"targets": [target], "protocols": [protocol], "authority_file": str(authority)}
        yield lab, known


def rows_of(
    visit: Visit,
    network: Composed,
    site: Path,
    config: JsonMapping,
    conditions: Conditions = AS_THEY_COME,
) -> list[JsonObject]:
    """Return the prober's rows of a resumed and a full attempt, with the columns of the visit.

    `config`: the settings of spec/probe.md besides targets and protocols. Raises LabError.
    """
    path = _longer(lab_path(network.network, network.files), visit.served.delay_ms)
    place = (site, conditions.path(path), network.network, visit.block, conditions)
    with running(visit.served, visit.protocol, *place) as (lab, known):
        rows = [
            row
            for kind in conditions.kinds
            for row in probe_events("probe", {**config, **known, **kind}, lab.command_prefix)
            if not row["first_of_pair"] or row["failure"] is not None
        ]
    about = {"probed_server": visit.served.name, "block": visit.block, "visit_rows": len(rows)}
    return [{**row, **about, "visit_row": number} for number, row in enumerate(rows)]


def _longer(path: JsonMapping, delay_ms: float) -> JsonMapping:
    """Return the path with `delay_ms` more round trip, half of it in each direction."""
    if not delay_ms:
        return path
    half = {"stage": "delay", "delay_ms": delay_ms / 2}
    return {way: [half, *stages] for way, stages in path.items()}
