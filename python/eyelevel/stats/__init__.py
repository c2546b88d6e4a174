"""Mathematics on arrays: estimates, intervals, tests and corrections; pure.

Each file is one method with its assumptions and its source, checked against R, other libraries or
closed forms. An answer is an `estimate.Estimate`, or in `hypothesis` a test's statistic and p
value. If there is no answer, it says why instead of raising or guessing. Random draws use a pinned
generator and a seed.

Nothing here knows trials, stacks, sites or outcomes: which rows go into an array is decided in
`eyelevel.analysis.gains`.
"""
