"""Run a study: a plan's trials in their order, each committed once.

`prepare` writes the run's plan and environment, `loop.run_trials` runs the missing trials:
`dispatch` decides which block runs where and next, `slots` run them, here or in labs side by side
on cores of their own (`cores`), or on other machines (`eyelevel.cluster`); `eyelevel.run.block` is
a slot's part of the work. `loop` is the one writer of trials that arrive as bytes; `progress`
counts them. After each repetition `stopping` may end networks' loads and reports the gains so far,
within a share of the time. `estimate` and `time_limits` report before the first load a plan's cost,
its sensitivity, and loads that cannot end in time.

Results are computed by `eyelevel.analysis`, exactly as in a report.
"""
