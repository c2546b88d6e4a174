"""Copy runs to buckets (S3, Google Cloud Storage, Azure) and folders, and fetch them, by `obstore`.

The run's directory is authoritative and the bucket only a copy: committed trials are uploaded,
whatever the bucket contains. The layout is defined in spec/run-record.md: `plan.json`,
`environment.json`, `stop.json` and `machines/` as in the directory, `pictures/`, and each complete
block as one ZIP in `blocks/`.

`objects` has the operations on a bucket and is the only file that imports obstore; `layout` packs
and unpacks a block; `copies` uploads what a run commits, and compares an object that exists
already; `fetch` rebuilds a run.
"""
