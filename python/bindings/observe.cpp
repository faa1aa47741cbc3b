// Seeing when memory and graphs go: see <cuprum/detail/observe.hpp>.
#include <cuprum/detail/observe.hpp>

#include "bindings/common.hpp"

namespace cuprum::python {
namespace {

/// What a weak reference to a Buffer or a GraphDefinition can't tell: whether the memory or the graph is still there.
struct Observer {
  std::function<bool()> is_there;
};

Observer observe(nb::handle object) {
  if (nb::isinstance<Buffer>(object)) {
    const Buffer& buffer = *nb::inst_ptr<Buffer>(object);
    if (buffer.handle() == 0) throw nb::value_error("Buffer has no active allocation");
    return {detail::observe(buffer)};
  }
  if (nb::isinstance<graph::GraphDefinition>(object))
    return {detail::observe(*nb::inst_ptr<graph::GraphDefinition>(object))};
  throw nb::type_error(("a Buffer or a GraphDefinition can be observed, not " + type_of(object)).c_str());
}

}  // namespace

void bind_observe(nb::module_& module) {
  nb::class_<Observer> bound(module, "_Observer", "Sees whether memory or a graph is still there, and keeps neither.");
  bound
      .def(
          "__init__", [](Observer* self, nb::handle object) { new (self) Observer(observe(object)); },
          "object"_a.none())
      .def("__bool__", [](const Observer& self) { return self.is_there(); });
}

}  // namespace cuprum::python
