"""What the errors of the run-time library mean; with bindings that don't document them nothing beyond its own words."""

from __future__ import annotations

from cuda.bindings import runtime
from cuda.core._utils.enum_explanations_helpers import get_best_available_explanations

RUNTIME_CUDA_ERROR_EXPLANATIONS = get_best_available_explanations(runtime.cudaError_t, {})
