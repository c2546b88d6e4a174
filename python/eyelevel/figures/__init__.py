"""Tables in, chart specifications out; pure."""

from eyelevel.figures.distribution import ALL_SITES, cumulative, distribution_chart
from eyelevel.figures.gain_chart import gain_chart
from eyelevel.figures.path_chart import path_chart

__all__ = ["ALL_SITES", "cumulative", "distribution_chart", "gain_chart", "path_chart"]
