"""Tests of `no difference`, one per file, and the test of equivalence.

Each takes groups of values and returns a `difference.DifferenceTest`: statistic, p value and
degrees of freedom, or the reason why there are none. Their assumptions differ: equal variances or
not (`anova`), ranks (`kruskal_wallis`, `mann_whitney`), all pairs at once (`games_howell`, by
`studentized_range`), rates within blocks (`cochran_q`).

`eyelevel.analysis.stats.families` corrects for many tests; `eyelevel.analysis.gains` decides which
comparisons are tested.
"""
