"""Tries to leave a live network, as a program in the browser's place could.

Run as a script on the machine that loads, with JSON: `places` (addresses and ports),
`gateway_ports` (tried at each end of the network's devices), `allow`, and `router_alone` (without
the refusals of the browser's own namespace). The confined program sends TCP and UDP to each, by the
routes and bound to the device.
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from eyelevel.lab.client import LiveNetwork
from eyelevel.lab.confinement import confine, hand_over

DEVICE = "live0"
TRIES = """
import json, socket, sys
def reach(address, port, device):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(family, kind) as tried:
            tried.settimeout(0.3)
            try:
                if device:
                    tried.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode())
                tried.connect((address, port))
                tried.send(b"x")
            except OSError:
                pass
places, device = json.loads(sys.argv[1]), sys.argv[2]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as own:
    own.connect(("198.41.0.4", 9))
    network = own.getsockname()[0].rpartition(".")[0]
# The ends of the network's own devices: the router's two and the machine's.
ports = json.loads(sys.argv[3])
places += [[f"{network}.{host}", port] for host in (1, 5, 6) for port in ports]
with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as own:
    own.connect(("2001:503:ba3e::2:30", 9))
    network = own.getsockname()[0].rpartition(":")[0]
assert network.startswith("2001:db8:")
places += [[f"{network}:{host}", port] for host in (1, 5, 6) for port in ports]
for address, port in places:
    for bound in ("", device):
        reach(address, port, bound)
print("tried", len(places))
"""


def main() -> None:
    about = json.loads(sys.argv[1])
    python = Path(sys.executable).resolve()
    with LiveNetwork(about["allow"]) as network, TemporaryDirectory() as name:
        folder = Path(name) / "own"
        folder.mkdir()
        Path(name).chmod(0o755)
        hand_over(folder)
        if about["router_alone"]:
            for family in ("-4", "-6"):
                flush = ["ip", family, "route", "flush", "type", "unreachable"]
                subprocess.run([*network.command_prefix, *flush], check=True)
        prefix = confine(network.command_prefix, [folder], [Path(sys.base_prefix)])
        words = [json.dumps(about["places"]), DEVICE, json.dumps(about["gateway_ports"])]
        command = [*prefix, str(python), "-I", "-c", TRIES, *words]
        done = subprocess.run(command, cwd="/", capture_output=True, text=True, check=False)
    print(done.stdout, done.stderr)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
