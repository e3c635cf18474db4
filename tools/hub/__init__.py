"""A hub for a class: what JupyterHub, its learners' servers and nbgrader are told, and an image of all of it."""
