"""Shell completion behind `eyelevel`: commands, options, and names of presets.

`completion` prints a shell's script, which asks `answer` at each press of the key. `answer` imports
nothing but what Python itself brings, and starts no command: all that it knows is in `words.json`,
which `written` writes from the commands' own declarations and the tables of presets, as `python -m
eyelevel.cli.completion.written`; a test says when it is stale.
"""
