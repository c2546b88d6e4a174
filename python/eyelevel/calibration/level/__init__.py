"""The spirit level: how two stacks differ, by one table of aspects; pure.

`aspects` is the table: each aspect is a setting, or is measured, or both. `page_values` and
`transfer_values` take the measured values out of what one run gave on one of the `scenarios`;
`classes` says of two samples what their difference is: equal, inherent, the browser's, unequal or
unknown; `rows` puts both together, `stack_aspects` each stack's settings and values. `text` says
it to people.

Nothing is said of an aspect but the setting in force and what was measured. Runs are made and kept
by `eyelevel.calibration.measuring`; the reference page is written by
`eyelevel.cli.reference.level`.
"""
