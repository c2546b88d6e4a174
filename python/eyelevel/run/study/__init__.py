"""A whole study: a plan's trials in their order, each committed once.

`prepare` writes what the run is and runs on (`environment`), `loop.run_trials` runs what is
missing: `dispatch` says which block runs where and next, `slots` are what runs them, here or labs
side by side on cores of their own (`jobs`, `cores`), or elsewhere (`eyelevel.cluster`); what a slot
does with a block is `eyelevel.run.block`'s. `committer` is the one writer of what comes as bytes;
`progress` says how far it is. After each repetition `stopping` may end networks' loads, and
`effects` shows what is seen so far, within a share of the time (`looks`). `estimate` (with
`sequential_estimate`) and `time_limits` say before the first load what a plan costs, what it can
show, and what cannot end.

Results are looked at through `eyelevel.analysis`, exactly as a report does.
"""
