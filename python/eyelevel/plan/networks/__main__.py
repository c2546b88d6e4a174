"""Resolve a network's name for the shell of `eyelevel path`: print JSON or an error."""

import argparse
import json
import sys

from eyelevel.base.errors import NetworkError
from eyelevel.base.json_types import JsonObject
from eyelevel.plan.networks.compose import NetworkWords, pair_of, refuse_what_is_unclear
from eyelevel.plan.networks.cross_traffic import parse_all_cross_traffic
from eyelevel.plan.networks.network import lab_path
from eyelevel.plan.networks.presets import find_network


def main(words: list[str]) -> int:
    """Print the lab's `down` and `up` of --network and the `cross_traffic` of all --cross-traffic.

    With --traces recordings replace the network's model. Returns 1 after a line on standard error
    if an option is invalid.
    """
    parser = argparse.ArgumentParser(prog="eyelevel.plan.networks")
    parser.add_argument("--network")
    parser.add_argument("--traces")
    parser.add_argument("--cross-traffic", action="append", default=[])
    arguments = parser.parse_args(words)
    try:
        path = _path(NetworkWords(network=arguments.network, traces=arguments.traces))
        kinds = parse_all_cross_traffic(arguments.cross_traffic)
    except NetworkError as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({**path, "cross_traffic": [kind.stated() for kind in kinds]}))
    return 0


def _path(words: NetworkWords) -> JsonObject:
    refuse_what_is_unclear(words)
    if words.network is None:
        return {"down": [], "up": []}
    network = find_network(words.network)
    if words.traces is None:
        return lab_path(network)
    down, up = pair_of(network.name, words.traces)
    # Their mean rate affects no queue, and the shell reads the files itself.
    recorded = network.recorded(network.name, ("down", "up"))
    return lab_path(recorded, {"down": down, "up": up})


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
