"""Shell completion of commands, options, and names of presets.

`completion` prints a shell's script, which calls `answer` at each press of Tab. `answer` imports
only the standard library and runs no command: its data is in `words.json`, which `python -m
eyelevel.cli.reference` generates from the commands' own declarations and the tables of
presets; a test fails if it is stale.
"""
