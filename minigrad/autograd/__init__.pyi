"""The public names, as minigrad/__init__.py puts them here: type checkers do not follow such assignments."""

from ..tensor import Tensor as Variable
from . import forward_ad as forward_ad
from . import functional as functional
from . import graph as graph
from .anomaly_mode import detect_anomaly as detect_anomaly
from .anomaly_mode import set_detect_anomaly as set_detect_anomaly
from .backward import backward as backward
from .function import Function as Function
from .grad import grad as grad
from .grad_mode import enable_grad as enable_grad
from .grad_mode import inference_mode as inference_mode
from .grad_mode import no_grad as no_grad
from .grad_mode import set_grad_enabled as set_grad_enabled
from .gradcheck import GradcheckError as GradcheckError
from .gradcheck import gradcheck as gradcheck
from .gradcheck import gradgradcheck as gradgradcheck
from .saved_tensors import SavedTensor as SavedTensor

__all__ = ["Variable"]
