"""Plans: what to load, over which networks and stacks, and what to compare; pure.

`file` reads a plan's text into a `plan.Plan`, with everything named resolved; `trials` expands a
plan into its ordered, seeded and hashed trials. Between both stand the things that plans speak of:
stacks and their presets, browser settings, devices, causes, steps after a load, time limits.
`change` makes the text of a plan from a question of a few characters; `single_load_plan` makes a
plan without a file; `plan_json` reads back what a run was.

No file, clock or lab in here: what a plan names is handed in by readers
(`eyelevel.plan.file.tables.Readers`). A trial's identity is the hash of all that determines it
(spec/plan.md); running trials is the business of `eyelevel.run`.
"""
