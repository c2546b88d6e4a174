"""The answer in words.

`sentences` has one for each declared comparison and network, each fit to be quoted alone;
`rare_loads` adds the sentences on timeouts and slow loads. `eyelevel.analysis.phrases.verdict`
names a gain's finding, one of a closed list.
"""
