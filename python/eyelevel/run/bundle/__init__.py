"""A run as one file, with what it takes to repeat it.

`bundle` writes such a file, `unpack` opens one; its layout is spec/run-record.md, `members` says
what may lie in it. `inputs` finds again what the run was made from, by digest: recordings, files
of its networks, and the lock files that say which versions everything had.

What a bundle holds is checked when it is packed and when it is opened, its plan by the rules of a
plan file and against its own text. Nothing in it is executed; `consent` says what its plan would
start and open, and what no bundle gets. Repeating and comparing is the business of `eyelevel
rerun`.
"""
