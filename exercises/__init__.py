"""The exercises of the course: notebooks, and the checks that judge the answers."""
