"""Commands that build a single lab: `load` and `replay`.

`load` loads a site over one network and stack a few times and prints each load; with
`--cross-traffic` it does so with and without other transfers. `replay` runs any
command on the client side of a lab that serves a site.

A load is a trial like any other (`eyelevel.load`) and writes the same record with `--out`;
studies of many loads are in `eyelevel.cli.run`.
"""
