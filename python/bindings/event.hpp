// What other bindings need of events.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// Of an EventOptions, a dict or None.
EventOptions event_options_from(nb::handle given);

}  // namespace cuprum::python
