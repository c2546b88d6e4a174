"""A plan's text, read: from TOML to what it means, every mistake with its file and line.

`parse.parse_plan` does it. `model` is the shape that the text may have, checked by pydantic, and
writes the JSON schema; `quantities` reads values with their units; `tables` and `cross_traffic`
turn tables into networks and stacks; `toml_lines` knows on which line a value stands;
`diagnostics` gathers all that is wrong, in words, so that a plan is mended in one go. `change` and
`change_of_origin` write a plan's text for a question.

What the text resolves to lives one folder above. Nothing here opens a file.
"""
