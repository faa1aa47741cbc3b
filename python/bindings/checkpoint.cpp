// Checkpoints of processes. cuprum/checkpoint.py has the class that programs see.
#include <nanobind/stl/pair.h>

#include <cstring>
#include <cuprum/checkpoint.hpp>

#include "bindings/common.hpp"

namespace cuprum::python {
namespace {

using checkpoint::Process;

Uuid uuid_of_bytes(const nb::bytes& bytes) {
  Uuid uuid;
  if (bytes.size() != uuid.bytes.size()) throw nb::value_error("a UUID has 16 bytes");
  std::memcpy(uuid.bytes.data(), bytes.data(), uuid.bytes.size());
  return uuid;
}

std::map<Uuid, Uuid> mapping_from(const nb::list& pairs) {
  std::map<Uuid, Uuid> mapping;
  for (nb::handle pair : pairs) {
    const auto [from, to] = nb::cast<std::pair<nb::bytes, nb::bytes>>(pair);
    mapping[uuid_of_bytes(from)] = uuid_of_bytes(to);
  }
  return mapping;
}

std::string name_of(checkpoint::ProcessState state) {
  std::ostringstream text;
  text << state;
  return text.str();
}

}  // namespace

void bind_checkpoint(nb::module_& module) {
  nb::class_<Process>(module, "CheckpointProcess", "A process by its number, for cuprum.checkpoint.")
      .def(nb::init<int>(), "pid"_a)
      .def_prop_ro("pid", &Process::pid, "Its number.")
      .def_prop_ro(
          "state", [](const Process& self) { return name_of(without_gil([&] { return self.state(); })); },
          "Its state at this moment.")
      .def_prop_ro(
          "restore_thread_id",
          [](const Process& self) { return without_gil([&] { return self.restore_thread_id(); }); },
          "The number of the thread that checkpoints and restores it.")
      .def(
          "lock", [](const Process& self, std::int64_t timeout) { self.lock(std::chrono::milliseconds(timeout)); },
          "timeout_ms"_a, WithoutGil(), "Hold back its calls, and wait for its work.")
      .def("checkpoint", &Process::checkpoint, WithoutGil(), "Take its device memory.")
      .def(
          "restore",
          [](const Process& self, const nb::list& pairs) {
            const std::map<Uuid, Uuid> mapping = mapping_from(pairs);
            without_gil([&] { self.restore(mapping); });
          },
          "pairs"_a, "Give it back. `pairs` are of the old and the new device's UUIDs, as bytes.")
      .def("unlock", &Process::unlock, WithoutGil(), "Let its calls go on.");
}

}  // namespace cuprum::python
