// Both drivers, each asked in a process of its own; and a small program run on the one that would be taken.
#include <chrono>
#include <cuprum/cuprum.hpp>
#include <cuprum/driver.hpp>
#include <numeric>
#include <span>
#include <sstream>
#include <stdexcept>

#include "facts_json.hpp"
#include "gather.hpp"
#include "probe.hpp"

namespace cuprum::cli {
namespace {

DeviceFacts describe(const Device& device) {
  std::size_t memory = 0;
  driver::call<&driver::Api::cuDeviceTotalMem>(&memory, static_cast<CUdevice>(device.device_id()));
  return {device.device_id(), device.name(), device.arch(), memory};
}

DriverFacts gather_driver(const char* name, driver::Choice choice) {
  Probe probe([&] {
    driver::select(choice);
    const driver::Info info = driver::info();
    DriverFacts facts{.name = name, .path = info.path, .version = info.version};
    for (const Device& device : Device::all()) facts.devices.push_back(describe(device));
    if (facts.devices.empty()) facts.problem = "it shows no device";
    return encode(facts);
  });
  const ProbeResult result = probe.finish();
  if (result.problem.empty()) return decode<DriverFacts>(result.text);
  return {.name = name, .problem = result.problem};
}

// What examples/ten_minutes.cpp begins with: a template, compiled to machine code, run, and its result looked at.
void compile_and_run() {
  Device device;
  device.set_current();
  const Stream stream = device.create_stream();
  const Kernel scale = Program(R"(
      template <typename T>
      __global__ void scale(T* data, T factor, size_t n) {
        size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
        if (i < n) data[i] *= factor;
      })")
                           .compile(Target::cubin, {.name_expressions = {"scale<float>"}, .cache = nullptr})
                           .get_kernel("scale<float>");
  constexpr std::size_t n = 1000;
  Buffer host = PinnedMemoryResource().allocate(n * sizeof(float), stream);
  Buffer data = device.allocate(n * sizeof(float), stream);
  stream.sync();
  const std::span<float> values = host.as_span<float>();
  std::iota(values.begin(), values.end(), 0.0f);
  data.copy_from(host, stream);
  launch(stream, {.grid = ceil_div(n, 256), .block = 256}, scale, data, 3.0f, n);
  data.copy_to(host, stream);
  stream.sync();
  for (std::size_t i = 0; i < n; ++i) {
    if (values[i] != 3.0f * static_cast<float>(i))
      throw std::runtime_error("a kernel ran, but computed something wrong");
  }
}

}  // namespace

DriverFacts gather_nvidia_driver() { return gather_driver("NVIDIA", driver::Choice::nvidia); }
DriverFacts gather_softgpu() { return gather_driver("softgpu", driver::Choice::softgpu); }

TourFacts run_tour() {
  Probe probe([] {
    const auto start = std::chrono::steady_clock::now();
    compile_and_run();
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - start;
    return encode(TourFacts{.driver = driver::info().kind == driver::Choice::nvidia ? "NVIDIA" : "softgpu",
                            .device = Device().name(),
                            .seconds = time.count()});
  });
  const ProbeResult result = probe.finish();
  if (result.problem.empty()) return decode<TourFacts>(result.text);
  return {.problem = result.problem};
}

}  // namespace cuprum::cli
