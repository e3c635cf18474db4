"""Chapter 12: wrong answers with the diagnosis that each must get, and unusual right ones."""

NOTEBOOK = "12_forward_mode"

WRONG: dict = {}
RIGHT: dict = {}

# A draft: write four wrong answers that learners give, each under its diagnosis, and two right ones in an unusual way.
WRONG["first"] = {"other-number": "first = 6"}
RIGHT["first"] = ["first = 2.0 + 3.0"]
