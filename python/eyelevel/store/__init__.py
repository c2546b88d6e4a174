"""The run record: its schema and version, its outcomes, how it is written and read."""
