"""Grading a folder of collected notebooks: `python3 course.py grade FOLDER`.

material      what the course knows: its exercises, their points and beliefs, a right and a wrong answer
submissions   which notebook is whose, what of it is an answer, and the files beside it
journal       what is finished, on disk as soon as it is there
supervisor    one notebook, from its answers to a result for each exercise
processes     starts and ends the process of a notebook, behind a wall (bubblewrap) where there is one
walls         what a notebook sees behind the wall
worker        that process: its limits, and how it reports
cells         what runs in it: the learner's cells, and the checks on what they made
tables        the results as CSV and as one HTML page
"""
