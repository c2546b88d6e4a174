"""The bounds of a run on a cluster, measured: `python -m benchmarks.cluster PART...`.

Parts with loads that are made up need a minute or two each: `engine`, `scaling`, `lost`, `idle`,
`start`; `worker-memory` and `scale`, a look, resuming and the report of 150,000, ten; `memory`
half an hour. `admission` and `beside` load really: a machine is admitted without and with its level
known, and blocks here and on `local:1` take turns, a quarter of an hour on a quiet machine.
"""

import os
import sys

from benchmarks.cluster.admission import admission, start
from benchmarks.cluster.beside import beside
from benchmarks.cluster.scale import scale
from benchmarks.cluster.stubs import engine, idle, lost, memory, scaling, worker_memory
from benchmarks.shared.command import HEADING, measure

PARTS = {
    "start": start,
    "admission": admission,
    "engine": engine,
    "scaling": scaling,
    "lost": lost,
    "idle": idle,
    "memory": memory,
    "worker-memory": worker_memory,
    "scale": scale,
    "beside": beside,
}

if __name__ == "__main__":
    # Slots unpickle what they are asked, which the tests' helpers have.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    sys.exit(measure(__doc__, HEADING, PARTS, ("engine", "scaling", "lost", "idle")))
