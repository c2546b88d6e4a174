"""Records a packed site with the project's own recorder, from a lab that serves it."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from eyelevel.lab.client import Lab, LabConfig
from eyelevel.plan.networks.network import Network, lab_path
from eyelevel.plan.stack_presets import STACKS_BY_NAME
from eyelevel.plan.stacks import lab_stack

SERVED = Network("corpus", 1_000_000_000, 1_000_000_000, 20.0, 100.0)
"""Fast, with a round trip as to a CDN; a recording's waits are those of its servers."""
VIEWPORT = "1280x720"
RECORD_TIMEOUT_S = 120.0


def record(packed: Path, out: Path, url: str) -> dict:
    """Writes the recording of `url` and returns what `eyelevel site info` says of it."""
    stack = lab_stack(STACKS_BY_NAME["tcp+"], SERVED)
    with (
        tempfile.TemporaryDirectory() as folder,
        Lab(LabConfig(lab_path(SERVED), 1, str(packed), stack)) as lab,
    ):
        authority = Path(folder) / "authority.pem"
        authority.write_text(lab.ready.ca_certificate or "", encoding="ascii")
        command = [*lab.command_prefix, sys.executable, "-m", "eyelevel.cli.main", "record", url]
        command += ["--out", str(out), "--upstream-ca", str(authority), "--viewport", VIEWPORT]
        # Where servers stand in a lab is public to nobody.
        for origin in lab.ready.origins:
            command += ["--allow", origin["address"]]
        done = subprocess.run(
            [*command, "--json"], stdout=subprocess.PIPE, timeout=RECORD_TIMEOUT_S, check=True
        )
        missed = [each["url"] for each in lab.stop().requests if each["match"] == "miss"]
    if missed:
        raise SystemExit(f"{url} asks for what is not there: {', '.join(missed)}")
    return json.loads(done.stdout)
