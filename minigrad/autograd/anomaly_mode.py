"""Anomaly mode: keep the traceback of each recorded operation, and show it when its backward fails or returns nan.

PyTorch counterpart: ``torch/autograd/anomaly_mode.py``.
"""

import contextlib
import os
import sys
import traceback
import warnings

import numpy as np

from ..messages import refusal
from .grad_fn import GradFn, grad_fn_of
from .grad_mode import anomaly
from .node import Node, creation_hooks

_OWN_FILES = os.path.dirname(os.path.dirname(__file__))  # pathlib would double the time of this import


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on. PyTorch counterpart: ``torch.is_anomaly_enabled``."""
    return anomaly.enabled


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode looks for nan. PyTorch counterpart: ``torch.is_anomaly_check_nan_enabled``."""
    return anomaly.check_nan


class set_detect_anomaly:
    """Switch anomaly mode on or off: at once when called, for the block when used with ``with``.

    PyTorch counterpart: ``torch.autograd.set_detect_anomaly``.
    """

    def __init__(self, mode: bool, check_nan: bool = True):
        self.before = anomaly.enabled, anomaly.check_nan
        _switch(mode, check_nan)

    def __enter__(self):
        pass

    def __exit__(self, *exception):
        _switch(*self.before)


class detect_anomaly:
    """Inside the block, nodes remember the lines that made them; a backward that fails or meets nan shows them.

    PyTorch counterpart: ``torch.autograd.detect_anomaly``.
    """

    def __init__(self, check_nan: bool = True):
        self.check_nan = check_nan
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self):
        self.before = anomaly.enabled, anomaly.check_nan
        _switch(True, self.check_nan)

    def __exit__(self, *exception):
        _switch(*self.before)


def _switch(enabled: bool, check_nan: bool) -> None:
    if enabled and not anomaly.enabled:
        creation_hooks.append(_note_origin)
    elif anomaly.enabled and not enabled:
        creation_hooks.remove(_note_origin)
    anomaly.enabled, anomaly.check_nan = enabled, check_nan


def _origin() -> dict:
    """Metadata of a node that is made now: the traceback without minigrad's own frames, and whose backward makes it."""
    frames = [f for f in traceback.extract_stack() if not f.filename.startswith((_OWN_FILES, "<operation "))]
    origin: dict = {"traceback_": traceback.format_list(frames)}
    if anomaly.evaluating:
        origin["parent_"] = grad_fn_of(anomaly.evaluating[-1])
    return origin


def _note_origin(node: Node) -> None:
    node._materialize_hooks().metadata.update(_origin())


@contextlib.contextmanager
def report_failure(node: Node):
    """Inside the block a node is evaluated, with its hooks: if that fails, warn with where the node was recorded."""
    anomaly.evaluating.append(node)
    try:
        yield
    except Exception:
        report_origin(*_described(grad_fn_of(node)))
        raise
    finally:
        anomaly.evaluating.pop()


def _described(grad_fn: GradFn) -> tuple[str, dict]:
    hooks = grad_fn._node._hooks
    return grad_fn.name(), {} if hooks is None else hooks.metadata


def report_origin(name: str, metadata: dict) -> None:
    """Warn with the traceback of the node that failed, and those of the nodes whose backward recorded it."""
    start = "Error detected in {}. "
    while True:
        if "traceback_" not in metadata:
            text = (
                f"{start.format(name)}No forward pass information available. Enable detect anomaly during "
                "forward pass for more information."
            )
        else:
            call = "the error" if start.startswith("Error") else "the previous calculation"
            text = f"{start.format(name)}Traceback of forward call that "
            text += f"{'caused' if call == 'the error' else 'induced'} {call}:\n{''.join(metadata['traceback_'])}"
        try:
            warnings.warn(text, stacklevel=2)
        except UserWarning:  # where warnings are errors, the error that is on its way comes first
            print(f"UserWarning: {text}", file=sys.stderr)
        if "parent_" not in metadata:
            return
        (name, metadata), start = _described(metadata["parent_"]), "\n\nPrevious calculation was induced by {}. "


def refuse_nan(node: Node, grads) -> None:
    """Raise RuntimeError for nan among the gradients that a node returned."""
    for index, grad in enumerate(grads if anomaly.check_nan else ()):
        if grad is not None and np.isnan(getattr(grad, "_array", grad)).any():
            raise refusal("nan found", grad_fn_of(node).name(), index, about=node)


def refuse_nan_seeds(seeds: list) -> None:
    """Raise RuntimeError for nan among several gradients from which a walk is to start."""
    for index, (node, grad) in enumerate(seeds if anomaly.check_nan else ()):
        if np.isnan(getattr(grad, "_array", grad)).any():
            report_origin("torch::autograd::GraphRoot", _origin())
            raise refusal("nan found", "torch::autograd::GraphRoot", index, about=node)
