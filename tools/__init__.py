"""What makes the course, and what grades a class. Learners need nothing of it; run it through `course.py`."""

import sys

# nbformat and Jupyter's server import jsonschema, which makes 38 grammars for a format of addresses (iri) as soon as it
# finds the package: a second, at every start, for what no notebook and no setting of ours has. Without it, it goes on.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
