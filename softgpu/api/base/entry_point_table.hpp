// Every form of every function that programs can ask cuGetProcAddress for.
#pragma once

#include <span>
#include <string_view>

namespace softgpu::api {

struct EntryPoint {
  std::string_view name;
  int version;      // of CUDA, in which this form came
  bool per_thread;  // the null stream is the calling thread's
  void* address;
};

// Sorted by name.
std::span<const EntryPoint> entry_points();

}  // namespace softgpu::api
