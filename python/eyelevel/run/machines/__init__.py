"""The machines of a run: what each is, whether it is as the others, and in which class it is.

`evidence` is what a machine shows of itself before its first block; `fleet` judges it, without a
process or a clock; `files` keeps `machines/ID.json` in the run's directory. Loads are compared
within a class alone, since machines that differ make times that differ.
"""
