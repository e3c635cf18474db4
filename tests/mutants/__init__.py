"""Right answers, changed by machine in small ways: what a check lets through shows how strong it is.

`operators` makes mutants, which a check has to refuse; `equivalents` makes answers that mean the same, which it has to
pass. `judge` tries both on the real checks. The tests judge a fixed sample; `python -m tests.mutants` judges all of
them, and prints killed / total by exercise.

What passes though it was changed is listed in `known/`, by "exercise: change", with its reason:

    equal    the mutant is right in every way that the text of the exercise speaks of
    hole     it is wrong, and the check does not see it
    refused  it means the same as a right answer, and the check refuses it

A line that is no longer so fails the run of all, and `--prune` takes it out: the number of holes only goes down.
"""
