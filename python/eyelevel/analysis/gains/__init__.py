"""Gains: each comparison that a plan declares, from the rows of the kept blocks.

`cells` comes first: one result per site, network, comparison and metric, and their geometric means
over the sites. The others build on the cells or the same rows: p values corrected for multiple
comparisons, intervals that hold at any stopping time (`sequential`), tests with other assumptions,
other sites and drift (`site_tests`), exclusions, timeouts and steps after the load (`exclusions`),
counterfactuals (`causes`), and machines.

Each question has a result type of its own. A module selects the rows and words the reason of an
undetermined answer; the mathematics is in `eyelevel.analysis.stats`, on arrays. `eyelevel.report`
presents the results.
"""
