"""Measure the level: compare two stacks over a few networks.

`measure.validate_level` runs both alternately in every scenario within four minutes, and `measure`
also has the effect of one setting; `runs` makes
one run, a page in the browser or a transfer of our own client, and returns its values; `site`
generates the page's recording; `cache` stores each run for one build, kernel, browser and pair of
stacks, so that a study reads existing results and never waits.

The pure package `eyelevel.calibration.level` defines what is compared and how differences are
named. Pages are loaded as trials (`eyelevel.load`).
"""
