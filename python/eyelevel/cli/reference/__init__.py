"""Generate pages and files from tables: docs/reference and the plan's JSON schema.

Each module has the text of one page. `python -m eyelevel.cli.reference` writes all of them; a test
compares texts and files. A page is generated from the table
that the product itself uses, so that the two cannot diverge.

No product code imports this package, and it has no tables of its own.
"""
