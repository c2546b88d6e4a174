"""Loads that came late or never, which means and medians say little of.

`timeouts` compares how many did not come within their limit, and says what a mean takes them for;
`censored` has the restricted mean and the log-rank test, in which a timeout is known to be longer
than its limit and no more; `slow_loads` looks for a rare tail in one stack alone.
"""
