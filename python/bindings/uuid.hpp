// uuid.UUID of Python.
#pragma once

#include "bindings/common.hpp"

namespace cuprum::python {

/// A uuid.UUID.
nb::object uuid_object(const Uuid& uuid);
/// The other direction. TypeError for what is no uuid.UUID.
Uuid uuid_from(nb::handle object);

}  // namespace cuprum::python
