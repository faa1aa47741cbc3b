#include "bindings/copy_options.hpp"

#include "bindings/device.hpp"

namespace cuprum::python {
namespace {

std::optional<Location> hint(nb::handle options, const char* name) {
  nb::object given = options.attr(name);
  if (given.is_none()) return std::nullopt;
  if (nb::isinstance<PythonDevice>(given) || nb::isinstance<Host>(given)) return location_from(given);
  throw nb::type_error((std::string(name) + " must be a Device, Host, or None, not " + type_of(given)).c_str());
}

MemcpySrcAccessOrder order_named(const std::string& name) {
  if (name == "during_api_call") return MemcpySrcAccessOrder::during_api_call;
  return name == "any" ? MemcpySrcAccessOrder::any : MemcpySrcAccessOrder::stream;
}

}  // namespace

Location location_from(nb::handle object) {
  if (nb::isinstance<PythonDevice>(object)) return nb::cast<const PythonDevice&>(object).device;
  if (nb::isinstance<Host>(object)) return nb::cast<const Host&>(object);
  throw nb::type_error(("a location must be a Device or a Host, not " + type_of(object)).c_str());
}

void require_managed(const Buffer& buffer, const char* function) {
  if (without_gil([&] { return buffer.is_managed(); })) return;
  throw nb::value_error(
      (std::string(function) + " requires a managed-memory allocation: allocate it from a ManagedMemoryResource")
          .c_str());
}

std::optional<CopyOptions> copy_options_from(nb::handle given, const char* function) {
  if (given.is_none()) return std::nullopt;
  nb::object type = nb::module_::import_("cuprum._options").attr("CopyOptions");
  if (!nb::isinstance(given, type) && !nb::isinstance<nb::dict>(given)) {
    throw nb::type_error(
        (std::string(function) + ": options must be CopyOptions or a dict with its fields, not " + type_of(given))
            .c_str());
  }
  const nb::object options = options_object("CopyOptions", given, "Copy options");
  const std::string mode = nb::cast<std::string>(nb::str(nb::object(options.attr("overlap_mode"))));
  return CopyOptions{
      .src_access_order = order_named(nb::cast<std::string>(nb::str(nb::object(options.attr("src_access_order"))))),
      .src_location_hint = hint(options, "src_location_hint"),
      .dst_location_hint = hint(options, "dst_location_hint"),
      .overlap_mode =
          mode == "default" ? MemcpyOverlapMode::default_mode : MemcpyOverlapMode::prefer_overlap_with_compute};
}

void refuse_legacy_stream(const Stream& stream, const char* function) {
  if (stream != Stream::legacy_default()) return;
  throw WrongType(std::string(function) +
                  " does not accept LEGACY_DEFAULT_STREAM with options, which the driver refuses there: pass another "
                  "stream, PER_THREAD_DEFAULT_STREAM, or options=None");
}

void refuse_captured_copy(const char* function, const char* message) {
  throw WrongType(std::string(function) + " does not support graph capture with options: " + message);
}

}  // namespace cuprum::python
