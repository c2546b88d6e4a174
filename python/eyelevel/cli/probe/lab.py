"""Probes inside a lab: our own servers behind an emulated path."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from eyelevel.cli.values import named_stack
from eyelevel.errors import ProbeError
from eyelevel.json_types import JsonMapping, JsonObject
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import ProbeTarget, probe_events
from eyelevel.networks.network import lab_path
from eyelevel.networks.presets import find_network
from eyelevel.probes.targets import protocols_of_stacks

LAB = "lab"
NAMES = ["lab"]


def rows_in_lab(
    config: JsonMapping,
    network: str,
    stacks: str | None,
    target: JsonMapping | None = None,
) -> Iterator[JsonObject]:
    """Rows of one round in a new lab; each has the network's `path_rtt_ms` as well.

    `target` says how the servers behave (spec/probe.md); by default they take early data.
    """
    chosen = find_network(network)
    config = dict(config)
    if stacks is not None:
        named = [named_stack(name.strip()) for name in stacks.split(",")]
        config["protocols"] = protocols_of_stacks(
            [(stack.http_version, stack.tls_version) for stack in named]
        )
        config |= _early(stacks, {stack.early_data for stack in named})
    behaviour = {"names": NAMES, "early_data": True, "quic_versions": [1, 0x6B3343CF]}
    # As the prober and the path have it: waiting for a processor is not the network's time.
    behaviour["realtime"] = True
    with (
        Lab(LabConfig(lab_path(chosen), int(config["seed"]))) as lab,
        ProbeTarget.behind(lab, behaviour | dict(target or {})) as servers,
        tempfile.TemporaryDirectory(prefix="eyelevel-") as folder,
    ):
        authority = Path(folder) / "ca.pem"
        authority.write_text(servers.authority_pem, encoding="ascii")
        address = lab.ready.server_address
        config["authority_file"] = str(authority)
        config["targets"] = [one | {"connect": address} for one in config["targets"]]
        for row in probe_events("probe", config, lab.command_prefix):
            yield row | {"path_rtt_ms": chosen.rtt_ms_min}


def _early(stacks: str, kinds: set[bool]) -> dict[str, bool]:
    """Stacks with 0-RTT have it in resumed connections, for all rows of a round or none."""
    if kinds == {True, False}:
        raise ProbeError(f"--stack {stacks}: probe stacks with 0-RTT apart from those without")
    return {"resume_session": True, "early_data": True} if kinds == {True} else {}
