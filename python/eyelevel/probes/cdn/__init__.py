"""Find the CDNs that served probed hosts, as far as rows show them.

`marks` reads the table `marks.tsv`: suffixes of host names and values of the header field `Server`,
each with the CDN's own documentation. `attribution` assigns each row of a probe a CDN, a group of
addresses, or `unknown`; `summary` has shares, times and paired differences by CDN.

No operator is guessed: an address alone identifies none, and unidentified rows count as unknown.
"""
