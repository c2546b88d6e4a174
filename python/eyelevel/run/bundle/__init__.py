"""A run as one file, with everything that is needed to repeat it.

`bundle` writes such a file, `unpack` opens one; its layout is in spec/run-record.md. `bundle` lists
the files that it may contain and finds the files that the run was made from by digest:
recordings, files of its networks, and the lock files with all versions.

The content of a bundle is checked when it is packed and when it is opened, its plan by the rules of
a plan file and against its own text. Nothing in it is executed; `unpack` describes what its plan
would start and open, and what it is refused. `eyelevel rerun` repeats and compares.
"""
