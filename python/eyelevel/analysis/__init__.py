"""Analyse a study: from the records of a run to the numbers in its report.

`study.read_contents` does all of it for a directory. `trials` turns each record into one row and
judges it beside the others; `gains` compares the rows of the kept blocks, stack against reference,
by site, network and metric; `figures` takes from both what the papers' figures are drawn from. On
these stand the verdicts: `gate` for one run, `two_runs` for two, `phrases` for people; `claims`
says where a stack may be called faster or slower at all. `decisions` says what a study that may
stop early has decided, and `decided_gains` what it then saw.

Computing only: no HTML (`eyelevel.report`), no mathematics that knows neither stacks nor sites
(`eyelevel.stats`), no metric of a single load (`eyelevel.metrics`), nothing that starts a load.
Records are read through `eyelevel.store` and never written; a study that goes on asks the same
functions as the report does, so that both always say the same.
"""
