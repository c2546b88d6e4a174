"""Comparisons, intervals and corrections; pure functions of numbers."""

from eyelevel.stats.anova import Anova, anova_of_two
from eyelevel.stats.binomial import binomial_interval
from eyelevel.stats.blocks import Blocks, ExcludedBlock, select_blocks
from eyelevel.stats.bootstrap import bootstrap_difference
from eyelevel.stats.censored import log_rank, restricted_mean_difference
from eyelevel.stats.censored_cells import CensoredCell, censored_cells
from eyelevel.stats.difference_test import DifferenceTest
from eyelevel.stats.equivalence import equivalence
from eyelevel.stats.estimate import Estimate
from eyelevel.stats.families import Family, correct, holm
from eyelevel.stats.gain import mean_gain, performance_gain
from eyelevel.stats.gain_tests import GainTests, gain_tests
from eyelevel.stats.games_howell import PairDifference, games_howell
from eyelevel.stats.harm import harm, harm_of_gains
from eyelevel.stats.kruskal_wallis import kruskal_wallis
from eyelevel.stats.mann_whitney import Dominance, mann_whitney
from eyelevel.stats.mixed_model import SitesModel, gain_over_sites
from eyelevel.stats.outcome_rates import RateTest, rates_differ
from eyelevel.stats.paired import hodges_lehmann, median
from eyelevel.stats.power import smallest_detectable
from eyelevel.stats.quantile_gain import quantile_gain
from eyelevel.stats.restricted_differences import RestrictedDifference, restricted_differences
from eyelevel.stats.sequential import confidence_sequence
from eyelevel.stats.sequential_study import Comparison, comparisons, sequential_gains
from eyelevel.stats.site_tests import SiteTests, site_tests
from eyelevel.stats.sites_models import NetworkModel, models_over_sites
from eyelevel.stats.study import (
    Cell,
    NetworkGain,
    compare_cells,
    compare_networks,
    network_gains,
)
from eyelevel.stats.unpaired_gain import unpaired_gain
from eyelevel.stats.weighted_gain import weighted_gain
from eyelevel.stats.welch_anova import welch_anova

__all__ = [
    "Anova",
    "Blocks",
    "Cell",
    "CensoredCell",
    "Comparison",
    "DifferenceTest",
    "Dominance",
    "Estimate",
    "ExcludedBlock",
    "Family",
    "GainTests",
    "NetworkGain",
    "NetworkModel",
    "PairDifference",
    "RateTest",
    "RestrictedDifference",
    "SiteTests",
    "SitesModel",
    "anova_of_two",
    "binomial_interval",
    "bootstrap_difference",
    "censored_cells",
    "compare_cells",
    "compare_networks",
    "comparisons",
    "confidence_sequence",
    "correct",
    "equivalence",
    "gain_over_sites",
    "gain_tests",
    "games_howell",
    "harm",
    "harm_of_gains",
    "hodges_lehmann",
    "holm",
    "kruskal_wallis",
    "log_rank",
    "mann_whitney",
    "mean_gain",
    "median",
    "models_over_sites",
    "network_gains",
    "performance_gain",
    "quantile_gain",
    "rates_differ",
    "restricted_differences",
    "restricted_mean_difference",
    "select_blocks",
    "sequential_gains",
    "site_tests",
    "smallest_detectable",
    "unpaired_gain",
    "weighted_gain",
    "welch_anova",
]
