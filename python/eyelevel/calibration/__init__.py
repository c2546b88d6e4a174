"""Calibration: whether two stacks are level, and whether this machine emulates what it should.

`level` is the table of aspects in which two stacks can differ; pure. `measuring` fills it by loads
and transfers of its own. `validation` compares paths and transports with theory and with the
kernel's.
"""
