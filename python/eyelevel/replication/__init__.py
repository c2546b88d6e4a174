"""Put published claims to the test: the claims of a text, the runs that answer them, and verdicts.

`claims` reads a file of claims, `parts` plans the runs that answer them within a budget, in the
order of the decisions that `expected` predicts, `estimators` has the texts' own estimators with
intervals over sites or hosts, `verdicts` the rules, `answers` applies them to runs and data sets,
`figures` draws a text's figures, and `page` writes the table of a text.
"""
