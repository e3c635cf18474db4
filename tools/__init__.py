"""What makes the course, and what grades a class. Learners need nothing of it; run it through `course.py`."""
