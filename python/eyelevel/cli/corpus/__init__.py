"""The commands `eyelevel corpus`, for many recordings at once.

There is one file per command; their logic and storage are in `eyelevel.sites.corpora`. Each command
resumes after an interruption, writes a table next to the recordings, and continues past a recording
that is damaged, slow or gone: its line has the reason.

`commands` is the group; `importing` has their shared progress output.
"""
