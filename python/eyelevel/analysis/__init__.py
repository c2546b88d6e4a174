"""Analyse a study: from the records of a run to the numbers in its report.

`study.read_results` does all of it for a directory. `trials` turns each record into one row and
applies post-hoc exclusions; `gains` compares the rows of the kept blocks, stack against reference,
by site, network and metric. The verdicts build on these: `gate` for one run, `two_runs` for two,
`claims`
decides where a stack may be called faster or slower at all, in words. `decisions` has the decisions
of a study that may stop early, and the gains at those decisions.

The study builds on `stats`, mathematics without stacks or sites; `metrics`, numbers of a single
load; `connections`, `pathlog`, `pictures` and `export`, which read and convert what a load left.

Computation only: no HTML (`eyelevel.report`), nothing that starts a load. Records are read through
`eyelevel.store` and never written. A running study calls the same functions as the report, so that
the two cannot disagree.
"""
