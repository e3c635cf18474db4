"""How fast minigrad is, beside the same work in hand-written NumPy, PyTorch and others.

`python -m benchmarks` prints one table, `python -m benchmarks ops` every operation alone beside PyTorch's;
`python -m benchmarks --help` lists the options.
What is not installed is left out. Only the ratios carry from one machine to another.

The files: `workloads` says what is computed, `spellings` the same in other words, `libraries` how each
library differentiates it, `hand` the same with every derivative written out, `operations` each operation
by itself, `timing` and `fresh` take the measurements (in this process; in processes of their own), `table`
prints them.
"""

import os

# One thread for everybody. The libraries read these when they are first imported.
for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"
