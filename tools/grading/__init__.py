"""Grading a folder of collected notebooks: `python3 course.py grade FOLDER`.

material      what the course knows: its exercises, their points and beliefs, its own files
submissions   which notebook is whose, and what of it is an answer
guard         what learners' code is refused, and how a change to the checks is noticed
worker        the process in which one notebook runs and is judged
supervisor    starts that process, limits it, believes it only what it can prove, and ends it
tables        the results as CSV and as one HTML page
"""
