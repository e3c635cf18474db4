"""`as_torch()`: PyTorch's own examples, run on minigrad without a change.

    from minigrad.compat import as_torch

    as_torch()
    import torch, torchviz  # both are minigrad now

Without this call minigrad is imported under its own name only.
"""

import pkgutil
import sys
from contextlib import ExitStack
from importlib import import_module
from types import ModuleType


def as_torch() -> ExitStack:
    """From here on `import torch` and `import torchviz` give minigrad: for good, for a block, or until `close()`.

        as_torch()

        with as_torch():
            import torch

        names = as_torch()
        names.close()

    At the end of the block, or after `close()`, the next `import torch` finds PyTorch, if it is installed. Modules
    that were imported meanwhile keep minigrad. A second call changes nothing, and neither does its end.

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
    for name, module in _modules_by_torch_name().items():
        sys.modules[name] = module
        undo.callback(_remove, name, module)
    return undo


def _modules_by_torch_name() -> dict[str, ModuleType]:
    """Every module of minigrad by its name under `torch`, those that PyTorch does not have included.

    Otherwise `import torch.x` would load minigrad's x.py a second time: Python looks in the folder of `torch`.
    """
    package = sys.modules[__package__]
    names = [__package__, *(found.name for found in pkgutil.walk_packages(package.__path__, f"{__package__}."))]
    modules = {f"torch{name.removeprefix(__package__)}": import_module(name) for name in names}
    return modules | {"torchviz": modules["torch.viz.torchviz"]}


def _remove(name: str, module: ModuleType) -> None:
    if sys.modules.get(name) is module:
        del sys.modules[name]
