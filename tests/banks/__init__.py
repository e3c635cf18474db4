"""Wrong answers that learners really give, one module a chapter, and the room to try them in.

Each module has `NOTEBOOK`, `WRONG` (exercise -> {diagnosis: source of the answer cell}; a
second answer with the same diagnosis is written `diagnosis/what`) and `RIGHT`
(exercise -> sources that solve it in an unusual way).
"""
