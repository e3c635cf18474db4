"""Right answers, changed by machine in small ways: what a check lets through shows how strong it is.

`operators` makes mutants, which a check has to refuse; `equivalents` makes answers that mean the same, which it has to
pass. `judge` tries both on the real checks, and `known.toml` says of each exception why it is one. The tests judge a
fixed sample; `python -m tests.mutants` judges all of them, and prints killed / total by exercise.
"""
