// cuLink*: PTX modules to an image that holds them all and is known to fit together. Loading it links them once more.
#pragma once

#include <cuda.h>

#include <mutex>
#include <string>
#include <vector>

#include "softgpu/runtime/code/jit_options.hpp"
#include "softgpu/runtime/code/program_builder.hpp"

namespace softgpu::runtime {

struct LinkInput;

// Thread-safe.
class LinkState {
 public:
  // The options' arrays must stay valid until the link is destroyed, as the driver API says.
  LinkState(JitOptions options, unsigned compute_capability);

  // What the input is, its first bytes say; the type only where a GPU's linker would treat it differently. `name` is
  // for messages and may be null. What is wrong goes to the error log and into the Failure; the input has no effect
  // then.
  void add(CUjitInputType type, const void* data, std::size_t size, const char* name);

  // The image to load; owned by this object. Nothing can be added afterwards.
  const std::string& complete();

 private:
  struct Member {
    ptx::Module module;
    PtxPart part;
  };
  void keep_archive(LinkInput archive);
  void add_wanted_members();

  std::mutex mutex_;
  JitOptions options_;
  const unsigned compute_capability_;
  ProgramBuilder builder_;
  std::vector<Member> archived_;
  std::size_t inputs_ = 0;
  bool finished_ = false;
  std::string image_;
};

}  // namespace softgpu::runtime
