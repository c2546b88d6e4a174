"""Load pages on many machines with Dask's `distributed`; the only package that imports it.

`scheduler` parses `--cluster` and starts or reaches the scheduler. `worker` runs on each machine,
with one process per slot and a nanny that restarts it. `slots` provides these slots to the loop of
a run (`eyelevel.run.study`). `settings` turns off Dask's background work, which would disturb
loads. `eyelevel.run.block.load`, which does not use Dask, loads a block on a slot.
"""
