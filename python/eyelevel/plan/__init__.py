"""Plans: what to load, over which networks and stacks, and what to compare; pure.

`file` parses a plan's text into a `plan.Plan` with all names resolved; `trials` expands a plan into
ordered, seeded and hashed trials. The other modules define what plans refer to: stacks and their
presets, browser settings, devices, causes, steps after a load, time limits. `change` writes a
plan's text for a short question; `single_load_plan` makes a plan without a file; `plan_json` reads
the plan of an existing run. `networks` defines paths, `traces` the rates and delays of links.

This package opens no file, clock or lab: readers (`eyelevel.plan.file.tables.Readers`) provide what
a plan names. A trial is identified by the hash of everything that determines it (spec/plan.md);
`eyelevel.run` runs trials.
"""
