"""Try to be heard by processes of Dask's as another user of the machine.

Run as a program with one line of JSON on standard input: `uid`, `addresses` (tls://), `folders` to
search for keys, and `credentials` of the run or null. Prints as JSON which attempts were answered,
and which files with a private key could be read. All that is needed is imported before the user
changes, since that one may not read the interpreter's folder.
"""

import asyncio
import json
import os
import sys
from pathlib import Path

from distributed.comm import connect
from distributed.core import send_recv
from distributed.protocol.pickle import dumps, loads

from eyelevel.cluster.tls_settings import without_tls
from eyelevel.cluster.trust import Credentials

GIVEN = "the run's credentials"
ANSWER_S = 20.0
REFUSED_S = 5.0  # for which Dask tries again where it is refused


async def answer(address, security, connect_s):
    """The user whose code the process runs, as it answers; None where it does not hear us."""
    comm = None
    try:
        arguments = security.get_connection_args("client")
        comm = await asyncio.wait_for(connect(address, timeout=connect_s, **arguments), ANSWER_S)
        run = {"op": "run", "function": dumps(os.getuid), "wait": True}
        identity = await asyncio.wait_for(send_recv(comm, op="identity"), ANSWER_S)
        if identity["type"] == "Scheduler":
            run["op"] = "run_function"
        answered = await asyncio.wait_for(send_recv(comm, **run), ANSWER_S)
        return answered["result"]
    except (OSError, TimeoutError, ValueError, MemoryError, EOFError):
        return None
    finally:
        if comm is not None:
            comm.abort()


async def attempts(addresses, securities):
    """Those that were answered, all made at once."""
    tried = {}
    for address in addresses:
        place = address.partition("://")[2]
        for name, security in securities.items():
            there = f"{'tcp' if name == 'no TLS' else 'tls'}://{place}"
            connect_s = ANSWER_S if name == GIVEN else REFUSED_S
            tried[f"{name} at {address}"] = answer(there, security, connect_s)
    uids = await asyncio.gather(*tried.values())
    return {attempt: uid for attempt, uid in zip(tried, uids, strict=True) if uid is not None}


def keys_in(folders):
    """Files that hold a private key and can be read."""
    found = []
    for folder in folders:
        for root, _, names in os.walk(folder):
            for name in names:
                try:
                    if b"PRIVATE KEY" in (Path(root) / name).read_bytes():
                        found.append(name)
                except OSError:
                    continue
    return found


def main():
    order = json.loads(sys.stdin.readline())
    securities = {"no TLS": without_tls(), "a certificate of its own": Credentials.new().security()}
    if given := Credentials.of_json(order["credentials"]):
        securities[GIVEN] = given.security()
    assert loads(dumps(os.getuid)) is os.getuid
    os.setgroups([])
    os.setgid(order["uid"])
    os.setuid(order["uid"])
    heard = asyncio.run(attempts(order["addresses"], securities))
    print(json.dumps({"uid": os.getuid(), "heard": heard, "keys": keys_in(order["folders"])}))


if __name__ == "__main__":
    main()
