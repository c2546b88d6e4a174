"""The command `eyelevel`, and the only place that prints, reads arguments or exits.

`main` has the table of subcommands and imports only the one that is asked for. There is a folder
for each group of commands; a file is one command, and what only it needs stands beside it.
`options` are the options that several commands have, `values` reads what people write in them,
`output` is where everything is printed: results to standard output, all else to standard error,
JSON with `--json` under the same names as in tables, plans and records.

A command parses, calls a package below and prints. It computes nothing that another caller could
want; that belongs into `eyelevel.analysis`, `eyelevel.run` or `eyelevel.calibration.validation`.
Expected errors (`eyelevel.base.errors.ExpectedError`) pass through and become one clear line in
`main`.
"""
