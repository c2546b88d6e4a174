"""Read untrusted files: bounded, and with a one-line error for a bad file.

Plans, records, bundles, lists, tables and traces may come from anyone. Every file that is read, and
every text that is parsed, goes through this package: `files` reads bytes, text and lines,
`json_text`, `toml_text` and `csv_rows` parse them, `packed` opens gzip and ZIP, `arrays` npz,
`pictures` images, `parquet` tables. `limits` is the table of maximum sizes, with reasons. A
`source` has an input's name, its limits and the error to raise: the message has the file, the place
in it, the fault and the remedy. `words` escapes control characters.

No other file of eyelevel parses such input itself (`tests/python/base/from_outside` lists the
exceptions, each with its reason).
"""
