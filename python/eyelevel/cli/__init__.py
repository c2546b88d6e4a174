"""The command `eyelevel`: the only package that prints, reads arguments or exits.

`main` has the table of subcommands and imports only the requested one. There is a folder for each
group of commands; a file is one command, with its helpers next to it. `options` has the options
that several commands share, `values` parses their values, `output` does all printing: results to
standard output, everything else to standard error, JSON with `--json` under the same names as in
tables, plans and records.

A command parses, calls a package below and prints. Computations that another caller could need
belong in `eyelevel.analysis`, `eyelevel.run` or `eyelevel.calibration.validation`. Expected errors
(`eyelevel.base.errors.ExpectedError`) pass through and become one clear line in `main`.
"""
