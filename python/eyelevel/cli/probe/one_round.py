"""Run one round of attempts: on the Internet, or in a lab created for it."""

from collections.abc import Iterator
from dataclasses import dataclass

from eyelevel.base.errors import ProbeError
from eyelevel.base.json_types import JsonMapping, JsonObject
from eyelevel.cli.values import get_stack
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.lab.prober import ProbeTarget, probe_events
from eyelevel.plan.networks.compose import Composed
from eyelevel.plan.networks.network import lab_path
from eyelevel.probes.targets import protocols_of_stacks
from eyelevel.store.disk.folders import temporary_folder


@dataclass(frozen=True)
class Request:
    """The probes of one round, and how their rows are handled."""

    config: JsonObject
    network: Composed | None
    stacks: str | None

    def rows(self) -> Iterator[JsonObject]:
        """Yield the rows of one round."""
        if self.network is not None:
            return rows_in_lab(self.config, self.network, self.stacks)
        return probe_events("probe", self.config)


def sessions(*, resumed: bool, early: bool) -> dict[str, bool]:
    """Return the prober's settings for resuming sessions. Raises `ProbeError`."""
    if early and not resumed:
        raise ProbeError(
            "--early-data needs --resume-session: only a resumed session has keys for it"
        )
    return {"resume_session": resumed, "early_data": early}


def rows_in_lab(
    config: JsonMapping,
    network: Composed,
    stacks: str | None,
    target: JsonMapping | None = None,
) -> Iterator[JsonObject]:
    """Yield the rows of one round in a new lab, with the network's `path_rtt_ms` added.

    `target` configures the servers (spec/probe.md); by default they accept early data.
    """
    config = dict(config)
    if stacks is not None:
        named = [get_stack(name.strip()) for name in stacks.split(",")]
        config["protocols"] = protocols_of_stacks(
            [(stack.http_version, stack.tls_version) for stack in named]
        )
        config |= _early(stacks, {stack.early_data for stack in named})
    names = [each["host"] for each in config["targets"]]
    behaviour = {"names": names, "early_data": True, "quic_versions": [1, 0x6B3343CF]}
    # Like prober and path: waiting for a CPU must not count as network time.
    behaviour["realtime"] = True
    with (
        Lab(LabConfig(lab_path(network.network, network.files), int(config["seed"]))) as lab,
        ProbeTarget.behind(lab, behaviour | dict(target or {})) as servers,
        temporary_folder("probe") as folder,
    ):
        authority = folder / "ca.pem"
        authority.write_text(servers.authority_pem, encoding="ascii")
        both = (lab.ready.server_address, lab.ready.server_address6)
        addresses = [address for address in both if address]
        config["authority_file"] = str(authority)
        config["targets"] = [one | {"connect": addresses} for one in config["targets"]]
        for event in probe_events("probe", config, lab.command_prefix):
            is_row = event["event"] == "attempt"
            yield event | ({"path_rtt_ms": network.network.rtt_ms_min} if is_row else {})


def _early(stacks: str, kinds: set[bool]) -> dict[str, bool]:
    """Return early-data settings: 0-RTT in resumed connections for all rows of a round or none."""
    if kinds == {True, False}:
        raise ProbeError(f"--stack {stacks}: probe stacks with 0-RTT apart from those without")
    return sessions(resumed=True, early=True) if kinds == {True} else {}
