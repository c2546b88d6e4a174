"""`eyelevel corpus`: many recordings at once: recorded, imported, checked, described, selected.

One command a file; what they decide and keep is `eyelevel.sites.corpora`. Each goes on where it was
interrupted, writes a table beside the recordings, and none is ended by one recording that is
damaged, slow or gone: its line says why.

`commands` is the group, `steps` the lines that all of them print.
"""
