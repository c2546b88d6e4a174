"""Measure the level: two stacks compared over a few networks.

`measure.validate_level` lets both take turns in every scenario within four minutes; `runs` makes
one run, a page in the browser or a transfer of our own client, and takes its values; `site` is the
made page as a recording; `cache` keeps each run for one build, kernel, browser and pair of stacks,
so that a study reads what is known and never waits; `effects` measures what one setting moves.

What is compared, and what a difference is called, is `eyelevel.level`, which is pure. It is part
of `eyelevel.run` as its pages are loaded as trials.
"""
