"""Which packages are installed: pyproject.toml cannot tell a wheel from an editable installation.

A wheel holds minigrad alone, for `exercises` is no name to put among other people's packages. The course is installed
as editable, and its notebooks import the checks of the exercises from every folder.
"""

import sys

from setuptools import find_packages, setup

COURSE = ["exercises*"] if "editable_wheel" in sys.argv else []

setup(packages=find_packages(include=["minigrad*", *COURSE]))
