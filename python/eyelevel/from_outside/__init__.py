"""Readers of files from elsewhere: bounded, and a bad file is refused in one line.

Plans, records, bundles, lists, tables and traces come from colleagues and from strangers. Every
file that is read, and every text that is parsed, goes through here: `files` reads bytes, text and
lines, `json_text`, `toml_text` and `csv_rows` parse them, `packed` opens gzip and ZIP, `arrays`
npz, `pictures` images, `parquet` tables. `limits` is the table of how much of each is read, with
reasons. A `source` names the file, its limits and the error to raise: its message has the file, the
place in it, what is wrong and what to do. `words` spells out what would steer a terminal.

No other file of the package parses such things by itself (`tests/python/from_outside` lists the
exceptions, each with its reason).
"""
