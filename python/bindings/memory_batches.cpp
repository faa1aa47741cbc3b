// Copies and moves of many buffers at once: see <cuprum/memory_batches.hpp>.
#include "bindings/copy_options.hpp"
#include "bindings/device.hpp"

namespace cuprum::python {
namespace {

std::string name_of_type(nb::handle object) {
  return nb::cast<std::string>(nb::str(nb::object(nb::handle(object.type()).attr("__name__"))));
}

/// Strings are sequences, too, but of no buffers.
bool is_sequence(nb::handle object) { return PySequence_Check(object.ptr()) && !nb::isinstance<nb::dict>(object); }

std::vector<Buffer> buffers_from(nb::handle given, const char* function, const char* single) {
  const std::string name = function;
  if (nb::isinstance<Buffer>(given)) {
    throw nb::type_error((name + ": pass a sequence of Buffers; for a single buffer use " + single).c_str());
  }
  if (!is_sequence(given)) {
    throw nb::type_error((name + ": buffers must be a sequence of Buffer, got " + name_of_type(given)).c_str());
  }
  std::vector<Buffer> buffers;
  for (nb::handle item : nb::iter(given)) {
    if (!nb::isinstance<Buffer>(item))
      throw nb::type_error((name + ": expected Buffer, got " + name_of_type(item)).c_str());
    buffers.push_back(nb::cast<Buffer>(item));
  }
  if (buffers.empty()) throw nb::value_error((name + ": empty buffers sequence").c_str());
  return buffers;
}

/// One for each copy.
std::vector<CopyOptions> options_from(nb::handle given, std::size_t count) {
  const nb::object type = nb::module_::import_("cuprum._options").attr("CopyOptions");
  if (given.is_none() || nb::isinstance(given, type) || nb::isinstance<nb::dict>(given))
    return {count, copy_options_from(given, "copy_batch").value_or(CopyOptions{})};
  if (!is_sequence(given)) {
    throw nb::type_error(
        ("copy_batch: options must be CopyOptions, a sequence of them, or None, got " + name_of_type(given)).c_str());
  }
  std::vector<CopyOptions> options;
  for (nb::handle item : nb::iter(given)) {
    if (!nb::isinstance(item, type) && !nb::isinstance<nb::dict>(item)) {
      throw nb::type_error(("copy_batch: each options element must be CopyOptions, got " + name_of_type(item)).c_str());
    }
    options.push_back(copy_options_from(item, "copy_batch").value());
  }
  if (options.size() != count) {
    throw nb::value_error(
        ("copy_batch: options length " + std::to_string(options.size()) + ", the buffers " + std::to_string(count))
            .c_str());
  }
  return options;
}

void check_pairs(const std::vector<Buffer>& sources, const std::vector<Buffer>& destinations) {
  if (sources.size() != destinations.size()) {
    throw nb::value_error(("copy_batch: srcs length (" + std::to_string(sources.size()) +
                           ") does not match dsts length (" + std::to_string(destinations.size()) + ")")
                              .c_str());
  }
  for (std::size_t i = 0; i < sources.size(); ++i) {
    if (sources[i].size() == destinations[i].size()) continue;
    throw nb::value_error(("copy_batch: buffer size mismatch at index " + std::to_string(i) + " (sizes are: src=" +
                           std::to_string(sources[i].size()) + ", dst=" + std::to_string(destinations[i].size()) + ")")
                              .c_str());
  }
}

void copy_many(nb::handle stream, nb::handle srcs, nb::handle dsts, nb::handle options) {
  if (!nb::isinstance<Stream>(stream)) {
    throw nb::type_error(
        ("Argument 'stream' has incorrect type (expected Stream, got " + name_of_type(stream) + ")").c_str());
  }
  constexpr const char* single = "Buffer.copy_to/copy_from";
  const std::vector<Buffer> sources = buffers_from(srcs, "copy_batch", single);
  const std::vector<Buffer> destinations = buffers_from(dsts, "copy_batch", single);
  check_pairs(sources, destinations);
  const std::vector<CopyOptions> wanted = options_from(options, sources.size());
  const Stream queue = nb::cast<Stream>(stream);
  with_copy_errors(queue, "copy_batch",
                   [&] { copy_batch(queue, sources, destinations, std::span<const CopyOptions>(wanted)); });
}

LocationBatch locations_from(nb::handle given, std::size_t count, const char* function) {
  if (nb::isinstance<PythonDevice>(given) || nb::isinstance<Host>(given)) return location_from(given);
  if (given.is_none()) throw nb::value_error((std::string(function) + ": location is required").c_str());
  if (!is_sequence(given)) {
    throw nb::type_error((std::string(function) + ": locations must be a Device, a Host, or a sequence of them, got " +
                          name_of_type(given))
                             .c_str());
  }
  std::vector<Location> locations;
  for (nb::handle item : nb::iter(given)) locations.push_back(location_from(item));
  if (locations.size() != count) {
    throw nb::value_error((std::string(function) + ": locations has length " + std::to_string(locations.size()) +
                           ", the buffers " + std::to_string(count))
                              .c_str());
  }
  return locations;
}

constexpr const char* single_managed = "the ManagedBuffer's method of that name";

}  // namespace

void bind_memory_batches(nb::module_& module) {
  module.def("copy_batch", &copy_many, "stream"_a.none(), "srcs"_a.none(), "dsts"_a.none(), nb::kw_only(),
             "options"_a = nb::none(),
             "Copies srcs[i] to dsts[i] for all i, after the work queued on `stream` before, in no order among each "
             "other. `options` is one CopyOptions for all, or one for each.\n\n"
             ">>> from cuprum import Device, PinnedMemoryResource\n"
             ">>> from cuprum.utils import copy_batch\n"
             ">>> device = Device(); device.set_current()\n"
             ">>> stream, pinned = device.create_stream(), PinnedMemoryResource()\n"
             ">>> sources = [pinned.allocate(4, stream=stream) for _ in range(2)]\n"
             ">>> targets = [pinned.allocate(4, stream=stream) for _ in range(2)]\n"
             ">>> for number, source in enumerate(sources): source.fill(number, stream=stream)\n"
             ">>> copy_batch(stream, sources, targets); stream.sync()\n"
             ">>> bytes(targets[1])\n"
             "b'\\x01\\x01\\x01\\x01'\n");
  module.def(
      "prefetch_batch",
      [](nb::handle stream, nb::handle buffers, nb::handle locations) {
        const std::vector<Buffer> memory = buffers_from(buffers, "prefetch_batch", single_managed);
        const LocationBatch places = locations_from(locations, memory.size(), "prefetch_batch");
        const Stream queue = own_stream_from(stream);
        for (const Buffer& buffer : memory) require_managed(buffer, "prefetch_batch");
        without_gil([&] { prefetch_batch(queue, memory, places); });
      },
      "stream"_a.none(), "buffers"_a.none(), "locations"_a.none(),
      "Moves managed memory, all to one place or each to its own, in stream order.\n\n"
      ">>> from cuprum import Device, ManagedMemoryResource\n"
      ">>> from cuprum.utils import prefetch_batch\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> stream, managed = device.create_stream(), ManagedMemoryResource()\n"
      ">>> buffers = [managed.allocate(4096, stream=stream) for _ in range(2)]\n"
      ">>> prefetch_batch(stream, buffers, device); stream.sync()\n");
  module.def(
      "discard_batch",
      [](nb::handle stream, nb::handle buffers) {
        const std::vector<Buffer> memory = buffers_from(buffers, "discard_batch", single_managed);
        const Stream queue = own_stream_from(stream);
        for (const Buffer& buffer : memory) require_managed(buffer, "discard_batch");
        without_gil([&] { discard_batch(queue, memory); });
      },
      "stream"_a.none(), "buffers"_a.none(),
      "Says of managed memory that its contents are not needed any more.\n\n"
      ">>> from cuprum import Device, ManagedMemoryResource\n"
      ">>> from cuprum.utils import discard_batch\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> stream, managed = device.create_stream(), ManagedMemoryResource()\n"
      ">>> buffers = [managed.allocate(4096, stream=stream) for _ in range(2)]\n"
      ">>> discard_batch(stream, buffers); stream.sync()\n");
  module.def(
      "discard_prefetch_batch",
      [](nb::handle stream, nb::handle buffers, nb::handle locations) {
        const std::vector<Buffer> memory = buffers_from(buffers, "discard_prefetch_batch", single_managed);
        const LocationBatch places = locations_from(locations, memory.size(), "discard_prefetch_batch");
        const Stream queue = own_stream_from(stream);
        for (const Buffer& buffer : memory) require_managed(buffer, "discard_prefetch_batch");
        without_gil([&] { discard_prefetch_batch(queue, memory, places); });
      },
      "stream"_a.none(), "buffers"_a.none(), "locations"_a.none(),
      "Discards the contents of managed memory and moves it.\n\n"
      ">>> from cuprum import Device, ManagedMemoryResource\n"
      ">>> from cuprum.utils import discard_prefetch_batch\n"
      ">>> device = Device(); device.set_current()\n"
      ">>> stream, managed = device.create_stream(), ManagedMemoryResource()\n"
      ">>> buffers = [managed.allocate(4096, stream=stream) for _ in range(2)]\n"
      ">>> discard_prefetch_batch(stream, buffers, device); stream.sync()\n");
}

}  // namespace cuprum::python
