"""Pages and files written from the tables: docs/reference and the plan's JSON schema.

Each module has the text of one page and writes it when it is run, such as `python -m
eyelevel.reference.metrics`; a test compares text and file. What a page lists is the literal table
that the product itself uses, so that neither can go its own way.

No product code imports this package, and it holds no table of its own.
"""
