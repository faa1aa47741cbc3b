// The driver in use: see <cuprum/driver_choice.hpp>.
#include "bindings/common.hpp"

namespace cuprum::python {

void bind_driver(nb::module_& module) {
  module.def(
      "driver_info",
      [] {
        const driver::Info info = without_gil([] { return driver::info(); });
        return nb::make_tuple(info.kind == driver::Choice::softgpu ? "softgpu" : "nvidia", info.path, info.version);
      },
      "The driver in use: \"nvidia\" or \"softgpu\", its library, and its CUDA version as in 13000. Chooses and opens "
      "one if none is yet.");
  module.def("softgpu_path", &driver::softgpu_path, "The library of softgpu, whether or not it is there.");
}

}  // namespace cuprum::python
