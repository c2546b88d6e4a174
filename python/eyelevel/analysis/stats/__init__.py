"""Mathematics on arrays: estimates, intervals, tests and corrections; pure.

Each file is one method with its assumptions and its source, checked against R, other libraries or
closed forms. A result is an `estimate.Estimate`, or in `hypothesis` a test's statistic and p value.
A result that cannot be computed has the reason instead; nothing is raised or guessed. Random draws
use a pinned generator and a seed.

Trials, stacks, sites and outcomes do not occur here: `eyelevel.analysis.gains` decides which rows
go into an array.
"""
