"""Running: from a plan to committed records.

`block` loads the trials of one block. `study` runs a plan's trials in their order, interruptibly
and resumably, decides when a study may stop, and estimates its cost and sensitivity beforehand.
`machines` compares the machines of a run, `live` loads pages from the Internet, `bundle` packs a
run with everything that is needed to repeat it, and `bucket` copies runs. Each of these may use
those named before it.

`eyelevel.load` loads a page, `eyelevel.sites` finds recorded sites, `eyelevel.calibration` measures
the machine, and `eyelevel.analysis` computes the results of a study. Nothing here depends on the
report.
"""
