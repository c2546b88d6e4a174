"""The papers' figures of a made-up truth: `python -m benchmarks.statistics.figures [STUDIES]`.

Shares of sites by the published ANOVA, beside the shares that its power at the truth gives. How
often an attribute is called best where none has to do with the gains, and which one is where bytes
have. How often intervals miss: of mean ratios over sites (slide 13), with what disturbs one stack
throughout a repetition on all of its sites; of the change of a median and a 95th percentile over
sites (Das, section 6.3). Loads are a site's time, times exp(SPREAD z). Nothing is asserted.
"""

import sys

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import stats

from benchmarks.shared.markdown import print_head
from eyelevel.analysis.stats.hypothesis import SIGNIFICANCE_LEVEL, anova_of_two
from eyelevel.analysis.stats.paired_gains import ratio_over_sites
from eyelevel.analysis.stats.quantile_gain import quantile_gain
from eyelevel.report.figures.site_gains import lines_of

Floats = NDArray[np.float64]

SPREAD, DISTURBANCE = 0.1, 0.3
SITES_SPREAD = 0.9  # of the logarithm of sites' times
GAIN = -0.1
STUDIES = 1000
SEED = 29
SLOPE = 0.05  # of ln(1 + gain) by each doubling of the bytes
FOUND = ("lower", "higher", "no significant difference")


def anova_shares(effect: float, runs: int, sites: int, draw: np.random.Generator) -> list[float]:
    """Shares of sites by FOUND; means differ by `effect` standard deviations of a run."""
    found = [
        anova_of_two(effect + draw.standard_normal(runs), draw.standard_normal(runs)).verdict
        for _ in range(sites)
    ]
    return [found.count(name) / sites for name in FOUND]


def expected_shares(effect: float, runs: int) -> list[float]:
    """Return the shares expected by theory: the noncentral t, whose square is the F of two
    groups."""
    freedom, shift = 2 * runs - 2, effect * (runs / 2) ** 0.5
    reach = float(stats.t.ppf(1 - SIGNIFICANCE_LEVEL / 2, freedom))
    lower, higher = (
        float(stats.nct.cdf(-reach, freedom, shift)),
        float(stats.nct.sf(reach, freedom, shift)),
    )
    return [lower, higher, 1 - lower - higher]


def best_attribute(
    sites: int, slope: float, studies: int, draw: np.random.Generator
) -> tuple[float, float, float]:
    """Shares of studies with a best attribute, with bytes as it, with one by the largest alone."""
    called = right = largest = 0
    for _ in range(studies):
        table = lines_of(_synthetic_sites(sites, slope, draw))
        best = table.filter("best")["attribute"].to_list()
        called += bool(best)
        right += best == ["encoded_bytes"]
        largest += (table["r_squared_held_out"].max() or -1) > 0
    return called / studies, right / studies, largest / studies


def _synthetic_sites(sites: int, slope: float, draw: np.random.Generator) -> pl.DataFrame:
    """Attributes that go together, as those of pages do, and gains of which bytes make some."""
    objects = draw.normal(6, 1, sites)
    in_bytes = 0.7 * objects + draw.normal(14, 1, sites)
    gain = slope * (in_bytes - in_bytes.mean()) + draw.normal(-0.1, 0.1, sites)
    return pl.DataFrame(
        {
            "server_addresses": np.exp2(0.5 * objects + draw.normal(0, 1, sites)),
            "objects": np.exp2(objects),
            "encoded_bytes": np.exp2(in_bytes),
            "mean_object_bytes": np.exp2(in_bytes - objects),
            "https_share": draw.random(sites),
            "ratio_of_means": np.expm1(gain),
        }
    )


def ratio_misses(
    sites: int, runs: int, disturbance: float, studies: int, draw: np.random.Generator
) -> float:
    """The share of studies whose interval of the mean ratio over sites misses GAIN."""
    missed = 0
    for _ in range(studies):
        level = np.exp(draw.normal(0, SITES_SPREAD, (sites, 1)))
        stacks = []
        for gain in (GAIN, 0.0):
            own = draw.standard_normal((sites, runs)) * (1 - disturbance**2) ** 0.5
            shared = disturbance * draw.standard_normal(runs)
            stacks.append(level * (1 + gain) * np.exp(SPREAD * (own + shared)))
        found = ratio_over_sites(*stacks)
        assert found.low is not None and found.high is not None
        missed += not found.low <= GAIN <= found.high
    return missed / studies


def quantile_misses(share: float, sites: int, studies: int, draw: np.random.Generator) -> float:
    """The share of studies whose interval of a quantile's change over sites misses GAIN."""
    missed = 0
    for _ in range(studies):
        level = draw.normal(0, SITES_SPREAD, sites)
        values, reference = (np.exp(level + SPREAD * draw.standard_normal(sites)) for _ in range(2))
        found = quantile_gain((1 + GAIN) * values, reference, share)
        assert found.low is not None and found.high is not None
        missed += not found.low <= GAIN <= found.high
    return missed / studies


def main() -> None:
    """Print the tables."""
    studies = int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES
    draw = np.random.Generator(np.random.PCG64(SEED))
    print_head(
        ["difference in standard deviations", "runs", "lower", "higher", "neither", "by theory"]
    )
    for effect in (0.0, 0.5, -1.0):
        for runs in (5, 31):
            found, theory = (
                anova_shares(effect, runs, 4 * studies, draw),
                expected_shares(effect, runs),
            )
            cells = [f"{share:.1%}" for share in found]
            cells.append(", ".join(f"{share:.1%}" for share in theory))
            print(f"| {effect:g} | {runs} | {' | '.join(cells)} |", flush=True)
    print_head(["sites", "slope", "one is best", "bytes are", "one has the largest above zero"])
    for sites in (10, 24, 100, 500):
        for slope in (0.0, SLOPE):
            shares = best_attribute(sites, slope, studies, draw)
            print(f"| {sites} | {slope:g} | {' | '.join(f'{s:.1%}' for s in shares)} |", flush=True)
    print_head(["mean ratio: sites", "runs", "missed", "missed, with a disturbance"])
    for sites in (1, 10, 38):
        for runs in (5, 31):
            shares = [ratio_misses(sites, runs, d, studies, draw) for d in (0.0, DISTURBANCE)]
            print(f"| {sites} | {runs} | {' | '.join(f'{s:.1%}' for s in shares)} |", flush=True)
    print_head(["change of a quantile over sites", "sites", "missed"])
    for share, counts in ((0.5, (6, 10, 40, 100, 500)), (0.95, (40, 100, 500))):
        for sites in counts:
            missed = quantile_misses(share, sites, studies, draw)
            print(f"| p{100 * share:g} | {sites} | {missed:.1%} |", flush=True)


if __name__ == "__main__":
    main()
