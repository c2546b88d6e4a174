"""Put published claims to the test: the claims of a text, the runs that answer them, and verdicts.

`claims` reads a file of claims, `parts` plans the runs that answer them within a budget,
`estimators` has the texts' own estimators with intervals over sites or hosts, `verdicts` the rules,
`answers` applies them to runs and data sets, and `page` writes the table of a text.
"""
