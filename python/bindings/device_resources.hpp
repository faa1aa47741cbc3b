// What green contexts are made of, as Python has it.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// The options of Device.create_context: ValueError when there are no resources in them.
ContextOptions context_options_from(nb::handle given);

}  // namespace cuprum::python
