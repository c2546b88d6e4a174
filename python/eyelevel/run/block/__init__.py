"""A block of loads on the slot that it was assigned to, wherever that is.

`load` loads its trials one after another and returns them as bytes, for another process to commit;
`attempts` retries the instrument's own failures, bounded and counted, and writes the record of a
load that never returned; `inputs` finds a block's recordings and traces by their digests. Which
block comes next, and how it arrives, is decided elsewhere (`eyelevel.run.study`,
`eyelevel.cluster`).
"""
