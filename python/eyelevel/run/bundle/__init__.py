"""A run as one file, with what it takes to repeat it.

`bundle` writes and opens such a file; its layout is spec/run-record.md. `inputs` finds again what
the run was made from, by digest: recordings, files of its networks, and the lock files that say
which versions everything had.

What a bundle holds is checked against its digests when it is opened, and nothing in it is
executed. Repeating and comparing is the business of `eyelevel rerun`.
"""
