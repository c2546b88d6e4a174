"""Loads on many machines, by Dask's `distributed`; the only package that imports it.

`where` reads what `--cluster` names and has a scheduler there; `worker` is what runs on a machine:
a process a slot, each with a nanny that begins it again; `slots` gives the loop of a run
(`eyelevel.run.study`) these slots as if they were here; `settings` turns off what Dask does beside
tasks, since that would be beside loads. What a slot does with a block is
`eyelevel.run.block.load`'s, which knows nothing of Dask.
"""
