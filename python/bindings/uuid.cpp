#include "bindings/uuid.hpp"

#include <cstring>

namespace cuprum::python {

nb::object uuid_object(const Uuid& uuid) {
  return nb::module_::import_("uuid").attr("UUID")("bytes"_a = nb::bytes(uuid.bytes.data(), uuid.bytes.size()));
}

Uuid uuid_from(nb::handle object) {
  if (!nb::isinstance(object, nb::module_::import_("uuid").attr("UUID")))
    throw nb::type_error(("a uuid.UUID is expected, not " + type_of(object)).c_str());
  const nb::bytes bytes = nb::cast<nb::bytes>(object.attr("bytes"));
  Uuid uuid;
  std::memcpy(uuid.bytes.data(), bytes.data(), uuid.bytes.size());
  return uuid;
}

}  // namespace cuprum::python
