"""`eyelevel path fates`: a log's luck for another path."""

from pathlib import Path
from typing import Annotated

import typer

from eyelevel.cli.output import hints


def fates(
    log: Annotated[Path, typer.Argument(help="One direction of --log: DIR/down.log or up.log.")],
    out: Annotated[Path, typer.Argument(help="The file to write, a packet a line.")],
) -> None:
    """Write what became of each packet, its delay in ms or `lost`, for the stage `fates`.

    Another controller then meets the same luck: `eyelevel path --down "fates OUT"`.
    """
    # Here, since numpy takes longer to import than a path takes to start.
    from eyelevel.pathlog.packets import fates_of

    fates_ = fates_of(log.read_bytes(), str(log))
    lines = ("lost\n" if delay_ms is None else f"{delay_ms:.6f}\n" for delay_ms in fates_)
    out.write_text("".join(lines), encoding="ascii")
    lost = sum(delay_ms is None for delay_ms in fates_)
    hints.print(f"{out}: {len(fates_)} packets, {lost} lost", soft_wrap=True, markup=False)
