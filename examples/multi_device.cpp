// Several devices: which there are, what they can do for each other, and dividing work among them.
//
// The program works with one device, too. To see it with three that are made of software:
//   CUPRUM_DRIVER=softgpu SOFTGPU_DEVICES=3 ./multi_device
#include <algorithm>
#include <cuprum/cuprum.hpp>
#include <iostream>
#include <numeric>
#include <span>
#include <vector>

using namespace cuprum;

namespace {

int failures = 0;

void check(bool is_right, const char* what) {
  std::cout << (is_right ? "  ok: " : "  WRONG: ") << what << '\n';
  if (!is_right) ++failures;
}

void show_devices(const std::vector<Device>& devices) {
  std::cout << "There " << (devices.size() == 1 ? "is 1 device" : "are several devices") << ":\n";
  for (const Device& device : devices) {
    std::cout << "  " << device << ", " << device.properties().multiprocessor_count() << " multiprocessors, PCI "
              << device.pci_bus_id() << '\n';
    for (const Device& peer : devices) {
      if (peer == device) continue;
      std::cout << "    " << (device.can_access_peer(peer) ? "can" : "can't") << " access the memory of device "
                << peer.device_id() << '\n';
    }
  }
}

/// What one device works on.
struct Part {
  Device device;
  Stream stream;
  Buffer data;
  std::span<float> host;
};

// Each device squares its share of the numbers. Nothing here waits: the devices work at the same time. No device needs
// to be current, because a stream knows where its work goes; one kernel serves all devices.
std::vector<Part> square(const std::vector<Device>& devices, const Kernel& kernel, std::span<float> numbers) {
  std::vector<Part> parts;
  const std::size_t share = ceil_div(numbers.size(), devices.size());
  for (const Device& device : devices) {
    const std::size_t first = std::min(parts.size() * share, numbers.size());
    const std::span<float> host = numbers.subspan(first, std::min(share, numbers.size() - first));
    Stream stream = device.create_stream();
    Buffer data = device.allocate(host.size_bytes(), stream);
    data.copy_from(std::span<const float>(host), stream);
    launch(stream, {.grid = ceil_div(host.size(), 256), .block = 256}, kernel, data, host.size());
    parts.push_back({device, stream, data, host});
  }
  return parts;
}

// One stream can wait for work of other devices: the host is told once, when all of them are done.
void collect(const std::vector<Part>& parts) {
  for (const Part& part : parts) part.data.copy_to(part.host, part.stream);
  const Stream& last = parts.back().stream;
  for (const Part& part : parts) {
    if (part.stream != last) last.wait(part.stream);
  }
  bool told = false;
  last.host_call([&] { told = true; });
  last.sync();
  check(told, "the host call came after the work of all devices");
}

// A default stream is a name for the one of the current device.
void show_default_stream(const std::vector<Device>& devices) {
  const Stream stream = Stream::legacy_default();
  bool follows = true;
  for (const Device& device : devices) {
    device.set_current();
    follows = follows && stream.device() == device && Device() == device;
  }
  check(follows, "the default stream is that of the current device");
}

void tour() {
  const std::vector<Device> devices = Device::all();
  show_devices(devices);

  const Kernel kernel = Program(R"(
      extern "C" __global__ void square(float* data, size_t n) {
        size_t i = threadIdx.x + size_t(blockIdx.x) * blockDim.x;
        if (i < n) data[i] *= data[i];
      })")
                            .compile(Target::cubin)
                            .get_kernel("square");

  std::cout << "Dividing work\n";
  std::vector<float> numbers(10'000);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  const std::vector<Part> parts = square(devices, kernel, numbers);
  collect(parts);
  bool right = true;
  for (std::size_t i = 0; i < numbers.size(); ++i) right = right && numbers[i] == static_cast<float>(i * i);
  check(right, "every number was squared, each by one of the devices");

  std::cout << "Default streams\n";
  show_default_stream(devices);
}

}  // namespace

int main() {
  try {
    tour();
  } catch (const Error& error) {
    std::cout << "failed: " << error.what() << '\n';
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
