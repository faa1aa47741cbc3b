"""What the errors of the driver mean; with bindings that don't document them nothing beyond the driver's own words."""

from __future__ import annotations

from cuda.bindings import driver
from cuda.core._utils.enum_explanations_helpers import get_best_available_explanations

DRIVER_CU_RESULT_EXPLANATIONS = get_best_available_explanations(driver.CUresult, {})
