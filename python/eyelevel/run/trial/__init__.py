"""Run one trial: build its lab, load the page, tear down, write exactly one outcome.

`trial.run_trial` leads through it: wait until the machine is quiet, build the lab, tell the
browser its settings (`load_settings`), load, collect what lab, host and browser saw, judge.
`judge` is a pure function, the first rule that holds; what takes more than a few lines to tell is
in `rules`. The other files each give one part of the record.

A failure is data: whatever goes wrong becomes an outcome with its detail, and an exception means
that no load could be attempted. Outcomes that only other loads can tell are
`eyelevel.analysis.trials.post_hoc_exclusions`.
"""
