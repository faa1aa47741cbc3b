// cuLink*: collects PTX and hands it to the module loader. softgpu links one PTX input; there is nothing to combine it
// with.
#pragma once

#include <cuda.h>

#include <string>

#include "softgpu/runtime/jit_options.hpp"

namespace softgpu::runtime {

class Link {
 public:
  // The options' arrays must stay valid until the link is destroyed, as the driver API says.
  Link(JitOptions options, unsigned compute_capability) : options_(options), compute_capability_(compute_capability) {}

  void add(CUjitInputType type, const void* data, std::size_t size);
  // The image to load; owned by this object, with a null character behind it.
  const std::string& complete();

 private:
  JitOptions options_;
  const unsigned compute_capability_;
  std::string ptx_;
};

}  // namespace softgpu::runtime
