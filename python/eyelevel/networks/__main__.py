"""What the shell of `eyelevel path` asks of the tables: one line of JSON, or one of error."""

import argparse
import json
import sys

from eyelevel.errors import NetworkError
from eyelevel.networks.cross_traffic import parse_all_cross_traffic
from eyelevel.networks.network import lab_path
from eyelevel.networks.presets import find_network


def main(words: list[str]) -> int:
    """Print `down` and `up` of --network and the `cross_traffic` of all --cross, as a lab has them.

    Returns 1 after a line on standard error where one of them makes no sense.
    """
    parser = argparse.ArgumentParser(prog="eyelevel.networks")
    parser.add_argument("--network")
    parser.add_argument("--cross", action="append", default=[])
    arguments = parser.parse_args(words)
    try:
        path = (
            lab_path(find_network(arguments.network))
            if arguments.network
            else {"down": [], "up": []}
        )
        kinds = parse_all_cross_traffic(arguments.cross)
    except NetworkError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({**path, "cross_traffic": [kind.stated() for kind in kinds]}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
