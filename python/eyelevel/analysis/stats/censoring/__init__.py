"""Loads that came late or never, for which means and medians are of little use.

`timeouts` compares how many loads exceeded their limit, and how a mean counts them; `censored` has
the restricted mean and the log-rank test, in which a timeout is only known to be longer than its
limit; `slow_loads` finds a rare tail in one stack alone.
"""
