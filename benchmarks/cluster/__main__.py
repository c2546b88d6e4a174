"""The bounds of a run on a cluster, measured: `python -m benchmarks.cluster PART...`.

Parts with loads that are made up need a minute or two each: `engine`, `scaling`, `lost`, `idle`;
`memory` takes half an hour. `beside` loads really, a quarter of an hour on a quiet machine: blocks
here and on `local:1` take turns. Resuming 150,000 is `benchmarks.run.report_scale`'s.
"""

import os
import sys

from benchmarks.cluster.beside import beside
from benchmarks.cluster.stubs import engine, idle, lost, memory, scaling
from benchmarks.shared.command import HEADING, measure

PARTS = {
    "engine": engine,
    "scaling": scaling,
    "lost": lost,
    "idle": idle,
    "memory": memory,
    "beside": beside,
}

if __name__ == "__main__":
    # Slots unpickle what they are asked, which the tests' helpers have.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    sys.exit(measure(__doc__, HEADING, PARTS, ("engine", "scaling", "lost", "idle")))
