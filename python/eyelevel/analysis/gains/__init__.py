"""Gains: each comparison that a plan declares, from the rows of the kept blocks.

`cells` is the first: one a site, network, comparison and metric, and their geometric means over the
sites. The others take the cells or the same rows further: p values that are corrected for their
number, intervals that hold at any stopping time (`sequential`), tests that assume other things
(`site_tests`), other sites (`other_sites`), weights of networks, timeouts site by site
(`timeouts`), counterfactuals (`causes`), and steps after the load.

Each file is one question with its own result type. The mathematics is that of `eyelevel.stats`,
which gets arrays; here is which rows go into them, and what an undetermined answer is called. How
a comparison is shown is the business of `eyelevel.report`.
"""
