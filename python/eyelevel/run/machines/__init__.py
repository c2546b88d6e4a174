"""The machines of a run: their properties, and the classes of comparable ones.

`evidence` collects a machine's properties before its first block; `fleet` judges them, without a
process or a clock, and stores `machines/ID.json` in the run's directory. Loads are compared
only within a class, since times depend on the machine.
"""
