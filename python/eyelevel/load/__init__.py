"""Load one page as a trial: build its lab, load, tear down, write exactly one outcome.

`trial.run_trial` is the entry point: wait until the machine is idle, build the lab, pass the
browser its settings (`load_settings`), load, collect the observations of lab, host and browser,
judge. `judge` is a pure function, the first rule that applies; longer rules are in `rules`. Each of
the other files contributes one part of the record. `servers` probes external servers side by side,
without a browser.

A failure is data: whatever goes wrong becomes an outcome with its detail, and an exception means
that no load could be attempted. Outcomes that depend on other loads are in
`eyelevel.analysis.trials.post_hoc_exclusions`.
"""
