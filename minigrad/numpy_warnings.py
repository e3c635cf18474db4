"""NumPy's warnings of what PyTorch computes silently: division by zero and overflow give inf and nan.

A filter, as ``np.errstate`` around every operation takes longer than the operation.
"""

import re
import warnings

# Only for minigrad's own files: NumPy still warns in yours.
SILENT = ("ignore", None, RuntimeWarning, re.compile(r"minigrad\."), 0)
NO_FILTER = (None,)


def silence_numpy() -> None:
    """Put that filter before all others: after ``warnings.simplefilter("always")`` NumPy would warn again."""
    if (warnings.filters or NO_FILTER)[0] is not SILENT:
        others = [each for each in warnings.filters if each is not SILENT]
        warnings.filters[:] = [SILENT, *others]  # type: ignore[index]  # a list, not only a Sequence
