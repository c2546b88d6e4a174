"""Parse a plan's text: from TOML to a `Plan`, with each mistake's file and line.

The entry point is `parse.parse_plan`. `model` defines the keys, validated by pydantic, and writes
the JSON schema; `quantities` parses values with units; `tables` resolves tables to networks and
stacks; `diagnostics` finds the line of a value and collects all mistakes, so that a plan can be
fixed in one go. `change` writes a plan's text for a question.

The types of resolved plans are in the parent package. Nothing here opens a file.
"""
