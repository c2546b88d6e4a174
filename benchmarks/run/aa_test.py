"""One stack under two names, as a run found it: `python -m benchmarks.run.aa_test DIR`.

DIR holds a finished run with two equal stacks, such as of `benchmarks/run/aa_test.toml` (240
loads, 17 minutes). Its names are swapped 1000 times at random within repetitions,
on all sites alike; each metric is in turn the one that was declared, a family over all networks.
Asked: at most 6.4 % of families with any claim, and raw p values that are uniform. Nothing is
asserted.
"""

import sys
from pathlib import Path

import numpy as np

from benchmarks.shared.command import runs
from eyelevel.analysis.stats.aa_test import REJECTED_SHARE_MAX, p_values, swap_names
from eyelevel.analysis.study import StudyResults, read_results

PERMUTATIONS = 1000
SEED = 2


def main(directory: Path) -> int:
    """Return one line per metric and network, the declared metric first."""
    results = read_results(directory)
    if len(results.stacks) != 2:
        print(f"{directory}: two equal stacks are asked, it has {results.stacks}", file=sys.stderr)
        return 1
    kept = results.blocks.kept
    print(f"{kept['block'].n_unique()} of {results.table['block'].n_unique()} blocks, "
          f"{len(results.sites)} sites, {PERMUTATIONS} permutations")  # fmt: skip
    print(f"asked: claims in at most {REJECTED_SHARE_MAX:.1%} of families, uniform p values")
    heads = f"{'claims':>7} {'uniform, p':>11} {'p of the true names':>20}"
    print(f"{'metric':28} {'network':>12} {heads}")
    shares = []
    for metric in results.metrics:
        pairs = pairs_of(results, metric)
        try:
            found = swap_names(pairs, PERMUTATIONS, np.random.Generator(np.random.PCG64(SEED)))
        except ValueError as error:  # a layout that never shifts has no spread
            print(f"{metric:28} {error}")
            continue
        shares.append(found.rejected_share)
        share = f"{found.rejected_share:.1%}"  # of the family: once, not once a network
        for network, uniform, p in zip(pairs, found.uniform_p, p_values(pairs), strict=True):
            print(f"{metric:28} {network:>12} {share:>7} {uniform:11.2f} {p or 0:20.2f}")
            share = ""
    print(f"mean over metrics {np.mean(shares):.1%}")
    return 0


def pairs_of(results: StudyResults, metric: str) -> dict[str, np.ndarray]:
    """Return the loads in pairs by network, sites x repetitions x 2, the reference's first."""
    repetitions = results.table["repetition"].max()
    shape = (len(results.sites), repetitions, len(results.stacks))
    pairs = {network: np.full(shape, np.nan) for network in results.networks}
    columns = ("network", "site", "repetition", "stack", metric)
    for network, site, repetition, stack, value in results.blocks.kept[columns].iter_rows():
        where = results.sites.index(site), repetition - 1, results.stacks.index(stack)
        pairs[network][where] = np.nan if value is None else value
    return pairs


if __name__ == "__main__":
    sys.exit(max(main(directory) for directory in runs(__doc__)))
