"""The spirit level: how two stacks differ, by one table of aspects; pure.

`aspects` is the table: each aspect is a setting, or is measured, or both. `page_values`
computes the measured values of one run, a page or a transfer, on one scenario; `classes`
classifies the difference of two samples as equal, inherent, the browser's, unequal or unknown;
`rows` combines them into rows, with each stack's settings and values. `text`
formats all of it.

An aspect is described only by the setting in force and by measurements.
`eyelevel.calibration.measuring` makes and caches the runs; `eyelevel.cli.reference.level` writes
the reference page.
"""
