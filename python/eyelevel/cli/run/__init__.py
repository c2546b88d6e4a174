"""Commands that run a study: `run`, `ask`, `rerun`, and `plan`, which only predicts.

The first three share `run.run_plan`: from a plan and its sites to the records, the report and the
exit status. `ask` writes the plan of one question and records the page if there is no recording;
`rerun` takes plan and sites from a bundle and compares; `plan_text` reads a PLAN argument.

The loop itself is `eyelevel.run.study`; commands on a finished run are in `eyelevel.cli.results`.
"""
