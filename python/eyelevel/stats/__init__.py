"""Comparisons, intervals and corrections; pure functions of numbers."""

from eyelevel.stats.anova import Anova, anova_of_two
from eyelevel.stats.blocks import Blocks, ExcludedBlock, select_blocks
from eyelevel.stats.estimate import Estimate
from eyelevel.stats.gain import mean_gain, performance_gain
from eyelevel.stats.holm import holm
from eyelevel.stats.outcome_rates import RateTest, rates_differ
from eyelevel.stats.paired import hodges_lehmann, median
from eyelevel.stats.power import smallest_detectable
from eyelevel.stats.study import Cell, NetworkGain, compare_cells, compare_networks

__all__ = [
    "Anova",
    "Blocks",
    "Cell",
    "Estimate",
    "ExcludedBlock",
    "NetworkGain",
    "RateTest",
    "anova_of_two",
    "compare_cells",
    "compare_networks",
    "hodges_lehmann",
    "holm",
    "mean_gain",
    "median",
    "performance_gain",
    "rates_differ",
    "select_blocks",
    "smallest_detectable",
]
