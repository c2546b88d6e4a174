"""Tests of `no difference`, one per file, and the test that a difference does not matter.

Groups of values go in, a `difference.DifferenceTest` comes out: statistic, p value and degrees of
freedom, or the reason why there are none. They differ in what they assume: equal variances or not
(`anova`), ranks (`kruskal_wallis`, `mann_whitney`), all pairs at once (`games_howell`, by
`studentized_range`), rates within blocks (`cochran_q`).

Correcting for many tests is `eyelevel.stats.families`; which comparisons are tested is decided in
`eyelevel.analysis.gains`.
"""
