"""Which packages are installed: pyproject.toml has no word for a difference between a wheel and an editable installation.

A wheel holds minigrad alone, for `exercises` is no name to put among other people's packages. The course is installed
as editable, and its notebooks import the checks of the exercises from every folder.
"""

import sys

from setuptools import find_packages, setup

COURSE = ["exercises*"] if "editable_wheel" in sys.argv else []

setup(packages=find_packages(include=["minigrad*", *COURSE]))
