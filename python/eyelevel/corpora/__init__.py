"""Corpora: many recordings handled as one, with a table of where each came from.

A corpus is a folder of recordings, or a list of them: a text file with a recording a line.
`members` opens both, and the made ones of `made`. `ledger` is the table beside the recordings: what
each was made of, and why some are not there. `sources` finds recordings of other tools in a folder,
and `importing` brings them in, one at a time. `pages` reads lists of pages to record, and
`published` has those of the texts that this project begins with, as far as they name them.

`attributes` says what each site consists of, `table` what all do together, in the form of Das's
table 4.1, and `selection` draws from them, by strata and seeded. `checks` keeps what loads of each
have shown.

Nothing is loaded here but through `eyelevel.sites`; recording is `eyelevel.cli.corpus.record`.
"""
