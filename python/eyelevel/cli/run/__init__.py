"""Commands that run a study: `run`, `ask`, `rerun`, and `plan`, which only predicts.

`run.run_plan` is what the first three share: from a plan and its sites to the records, the report
and the exit status. `ask` writes the plan of one question and records the page if no recording
is there; `rerun` takes plan and sites from a bundle and compares; `plan_text` reads what a PLAN
argument names.

The loop itself is `eyelevel.run.study`; what is done with a finished run is in
`eyelevel.cli.results`.
"""
