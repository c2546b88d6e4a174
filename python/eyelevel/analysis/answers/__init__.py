"""The answer in words.

`sentences` has one for each declared comparison and network, each to be quoted alone; what is said
of rare loads beside them (timeouts, slow ones) is in `rare_loads`. What a gain shows, as one of a
closed list, is `eyelevel.analysis.phrases.verdict`.
"""
