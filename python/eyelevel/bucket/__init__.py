"""Copies of runs in buckets (S3, Google Cloud Storage, Azure) and folders, by `obstore`.

The directory decides and the bucket copies: what is committed is put, whatever a bucket says. The
layout is spec/run-record.md's: `plan.json`, `environment.json`, `stop.json` and `machines/` as in
the directory, `pictures/`, and each block, once it is whole, as one ZIP in `blocks/`.

`objects` is what a bucket can do, and the only file that imports obstore; `once` creates an object
and reads back what is said to be there already; `block_file` packs and unpacks a block; `copies`
puts what a run commits, `fetch` rebuilds a run.
"""
