"""The option of all commands that load pages: how long a load waits for a busy machine."""

from typing import Annotated

import typer

from eyelevel.run.quiet_host import WAIT_S_MAX

HostWaitOption = Annotated[
    float,
    typer.Option(
        "--host-wait",
        min=0.0,
        max=WAIT_S_MAX,
        envvar="EYELEVEL_HOST_WAIT",
        show_envvar=False,
        help="Seconds that a load waits at most while the machine is too busy for any.",
    ),
]
