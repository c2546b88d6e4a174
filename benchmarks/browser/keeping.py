"""Measure what keeping a load's pictures takes: `python -m benchmarks.browser.keeping DIR`.

Every load of the run in DIR is kept once more, in a folder that is removed: processor time to
encode its pictures and to write them, and by how many bytes the folder grows, the last picture of a
site being among those of its first load. Then the processor time of all visual metrics, read back
from there. Needs no browser; least of several times, so that a busy machine counts for little.
"""

import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from benchmarks.shared.command import runs
from eyelevel.analysis.metrics.catalogue import metrics_of
from eyelevel.store.commit import write_trial
from eyelevel.store.directory import StoredTrial, iterate_trials, read_trial
from eyelevel.store.frames import Frames

TIMES = 5


def main(directory: Path) -> None:
    """One line a site."""
    by_site: dict[str, list[StoredTrial]] = defaultdict(list)
    for trial in iterate_trials(directory):
        if len(trial.frames()):
            by_site[trial.record["trial"]["site"]].append(trial)
    print(
        "medians of the loads        encode   write, first, further   kept, first, further  metrics"
    )
    for site, trials in by_site.items():
        with tempfile.TemporaryDirectory() as folder:
            print(_line(site, trials, Path(folder)), flush=True)


def _line(site: str, trials: list[StoredTrial], folder: Path) -> str:
    encode_ms, write_ms, kept_kb, metrics_s = [], [], [], []
    for trial in trials:
        pictures, record = list(trial.frames()), trial.record
        encode_ms.append(_least_ms(lambda pictures=pictures: Frames.of(pictures)))
        frames, before = Frames.of(pictures), _bytes_in(folder)
        write_ms.append(_cpu_ms(lambda f=frames, r=record: write_trial(folder, r, f)))
        kept_kb.append((_bytes_in(folder) - before) / 1e3)
        stored = read_trial(folder, record["trial"]["hash"])
        phases = record["browser"]["wall_ms"]
        video_s = (phases["load"] + phases["quiet"]) / 1e3
        took_ms = _least_ms(lambda s=stored: metrics_of(s.record, s.frames()))
        metrics_s.append(took_ms / 1e3 / video_s)
    further = [statistics.median(each[1:] or each) for each in (write_ms, kept_kb)]
    return (
        f"{site:12} {len(trials):4} loads {statistics.median(encode_ms):8.0f} ms"
        f" {write_ms[0]:8.0f} {further[0]:8.0f} ms {kept_kb[0]:10.1f} {further[1]:8.1f} kB"
        f" {statistics.median(metrics_s):9.4f} CPU s a video second"
    )


def _least_ms(call: Callable[[], object]) -> float:
    return min(_cpu_ms(call) for _ in range(TIMES))


def _cpu_ms(call: Callable[[], object]) -> float:
    began_s = time.process_time()
    call()
    return (time.process_time() - began_s) * 1e3


def _bytes_in(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())


if __name__ == "__main__":
    for directory in runs(__doc__):
        main(directory)
