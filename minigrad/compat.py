"""`as_torch()`: PyTorch's own examples, run on minigrad without a change.

    from minigrad.compat import as_torch

    as_torch()
    import torch, torchviz  # both are minigrad now

Nothing of this happens unless you ask: minigrad never answers to another name by itself.
"""

import pkgutil
import sys
from contextlib import ExitStack
from importlib import import_module
from types import ModuleType


def as_torch() -> ExitStack:
    """From here on `import torch` and `import torchviz` give minigrad; what it returns can undo that.

    Either for good, or for a block, or until `close()`:

        as_torch()

        with as_torch():
            import torch

        names = as_torch()
        names.close()

    Undoing frees the names, so that the next `import torch` finds PyTorch, if it is installed. Modules that
    were imported meanwhile keep the minigrad that they found. A second call changes nothing and undoes nothing.

    Raises RuntimeError if PyTorch, or its torchviz, is imported already. PyTorch has no counterpart.
    """
    undo = ExitStack()
    if sys.modules.get("torch") is sys.modules[__package__]:
        return undo
    for name in ("torch", "torchviz"):
        if sys.modules.get(name) is not None:
            raise RuntimeError(
                f"as_torch() has to come before the first `import {name}`: {name} itself is imported already. "
                "Restart Python (in Jupyter: Kernel, Restart Kernel) and call as_torch() first."
            )
    for name, module in _stand_ins().items():
        sys.modules[name] = module
        undo.callback(_free, name, module)
    return undo


def _stand_ins() -> dict[str, ModuleType]:
    """Every module of minigrad under PyTorch's name, not only those that PyTorch has, too.

    Python looks for `torch.x` in the folder of `torch`, and would load minigrad's x.py a second time.
    """
    package = sys.modules[__package__]
    names = [__package__, *(found.name for found in pkgutil.walk_packages(package.__path__, f"{__package__}."))]
    modules = {f"torch{name.removeprefix(__package__)}": import_module(name) for name in names}
    return modules | {"torchviz": modules["torch.viz.torchviz"]}


def _free(name: str, module: ModuleType) -> None:
    if sys.modules.get(name) is module:
        del sys.modules[name]
