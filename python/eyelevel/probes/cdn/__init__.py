"""The CDNs that served probed hosts, as far as rows show them.

`marks` reads the table `marks.tsv`: suffixes of host names and values of the field `Server`, each
with the CDN's own documentation. `attribution` gives each row of a probe its CDN, or its group of
addresses, or `unknown`; `summary` has shares, times and paired differences by CDN.

No operator is guessed: an address names none, and what cannot be told is counted as unknown.
"""
