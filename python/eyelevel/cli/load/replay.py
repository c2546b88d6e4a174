"""Run any command on the client side of a lab (`eyelevel replay`)."""

import os
import subprocess
from typing import Annotated

import typer

from eyelevel.cli.network_options import OriginRttOption, parse_origin_rtt, with_network_options
from eyelevel.cli.output import hints, say
from eyelevel.cli.values import get_stack
from eyelevel.lab.client import Lab, LabConfig
from eyelevel.load.traces import read_stages
from eyelevel.plan.in_force import lab_stack
from eyelevel.plan.networks.compose import NetworkWords, compose
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.origin_rtt import with_own_rtts
from eyelevel.plan.origin_rtts import OwnRtts, with_plans
from eyelevel.sites.recorded import open_site
from eyelevel.store.disk import temporary_folder


@with_network_options()
def replay(
    site: Annotated[
        str, typer.Argument(help="A recorded site: a file, or the name of a shipped one.")
    ],
    command: Annotated[list[str], typer.Argument(help="The command to run, after `--`.")],
    words: NetworkWords = NetworkWords(),  # noqa: B008 (frozen)
    stack: Annotated[
        str, typer.Option(help="A protocol stack from `eyelevel list stacks`.")
    ] = "tcp+",
    origin_rtt: OriginRttOption = None,
    seed: Annotated[int, typer.Option(min=0, help="The seed of the path's random losses.")] = 1,
) -> None:
    """Serve a recorded site over an emulated network and run a command against it.

    The command sees the site's names and addresses and nothing else. EYELEVEL_CA, SSL_CERT_FILE
    and CURL_CA_BUNDLE name a file with the certificate of the run's own authority, and
    EYELEVEL_URL has the page's URL. The command's exit status is passed on. The command may be
    `eyelevel path`: what runs behind that path reaches the site through it and through the
    network chosen here; `--network unshaped` makes the latter a fast one without delay.
    """
    recorded = open_site(site)
    composed, chosen_stack = compose(words, read_stages), get_stack(stack)
    chosen_network = composed.network
    path = lab_path(chosen_network, composed.files)
    if origin_rtt is not None:
        places = recorded.of_plan().places
        stacks = with_plans([chosen_stack], parse_origin_rtt(origin_rtt))
        own = OwnRtts.of(stacks, {recorded.name: places})
        own_ms = own.by_cell[recorded.name, chosen_stack.name]
        path = with_own_rtts(path, own_ms, places)
    config = LabConfig(
        path,
        seed,
        str(recorded.path.resolve()),
        lab_stack(chosen_stack, chosen_network),
    )
    with Lab(config) as lab, temporary_folder("replay") as folder:
        authority = folder / "ca.pem"
        authority.write_text(lab.ready.ca_certificate or "", encoding="ascii")
        environment = os.environ | {
            "EYELEVEL_CA": str(authority),
            "EYELEVEL_URL": lab.ready.main_url or "",
            "EYELEVEL_FAR": lab.ready.server_address,
            "EYELEVEL_FAR6": lab.ready.server_address6 or "",
            "SSL_CERT_FILE": str(authority),
            "CURL_CA_BUNDLE": str(authority),
        }
        status = _run([*lab.command_prefix, *command], environment)
        summary = lab.stop()
    missed = [request["url"] for request in summary.requests if request["match"] == "miss"]
    hints.print(
        f"requests over {chosen_stack.name} on {chosen_network.name}: {len(summary.requests)}, of "
        f"which {len(missed)} are not in the recording"
    )
    for url in missed[:10]:
        say(hints, f"  not recorded: {url}")
    raise typer.Exit(status)


def _run(command: list[str], environment: dict[str, str]) -> int:
    process = subprocess.Popen(command, env=environment)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            continue  # Ctrl-C reached the command, too, which decides when to exit.
