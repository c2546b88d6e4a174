"""A block of loads on the slot that has it, wherever that is.

`load` loads its trials one after another and gives them as bytes, for whoever commits them;
`attempts` tries a failure of the instrument again, bounded and counted, and writes what is recorded
of a load that never came back; `inputs` finds a block's recordings and traces by their digests.
None of it knows which block comes next, or how it got here (`eyelevel.run.study`,
`eyelevel.cluster`).
"""
