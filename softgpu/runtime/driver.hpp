// The driver as a whole: what cuInit sets up. It puts the parts together and hands each what it needs of the others;
// only the entry points, above all parts, ask it for them.
#pragma once

#include <cuda.h>

#include <memory>
#include <string>
#include <vector>

#include "softgpu/memory/address_space.hpp"
#include "softgpu/runtime/base/config.hpp"
#include "softgpu/runtime/base/devices.hpp"
#include "softgpu/runtime/checkpoint/control_server.hpp"
#include "softgpu/runtime/checkpoint/own_process.hpp"
#include "softgpu/runtime/code/code_services.hpp"
#include "softgpu/runtime/graphics/graphics_services.hpp"
#include "softgpu/runtime/graphs/graph_services.hpp"
#include "softgpu/runtime/memory/current_pools.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"
#include "softgpu/runtime/memory/virtual_memory.hpp"
#include "softgpu/runtime/work/primary_context.hpp"
#include "softgpu/runtime/work/work_services.hpp"
#include "softgpu/usage/publication.hpp"

namespace softgpu::runtime {

class Driver {
 public:
  // cuInit. Reads the settings once; later calls return what the first one did. Never throws.
  static CUresult initialize();
  // Why the driver can't be used now: not initialised, or this process was forked from the one that did. Else success.
  static CUresult state();
  // Only where state() is success. The one instance is never destroyed, so that exit() waits for nothing.
  static Driver& get();
  // Also before cuInit.
  static const Trace& trace();
  // Whether what is undefined ends the program. Also before cuInit.
  static bool is_strict();
  // The CUDA release that this is a driver of. Also before cuInit.
  static int cuda_version();
  // SOFTGPU_RUNTIME_DIR; empty: the user's own. Also before cuInit.
  static const std::string& runtime_folder();

  const Devices& devices() const { return devices_; }
  Device& device(int ordinal) const { return devices_.at(ordinal); }  // throws CUDA_ERROR_INVALID_DEVICE
  PrimaryContext& primary_context(int ordinal);                       // the same

  VirtualMemory& virtual_memory() { return virtual_memory_; }
  CurrentPools& current_pools() { return current_pools_; }

  WorkServices& work() { return work_; }
  MemoryServices& memory() { return memory_; }
  CodeServices& code() { return code_; }
  GraphServices& graphs() { return graphs_; }
  // To the thread that locks, checkpoints and restores this process. Throws CUDA_ERROR_NOT_SUPPORTED when there is
  // none.
  memory::Descriptor connect_to_control() const;
  GraphicsServices& graphics() { return graphics_; }

 private:
  explicit Driver(const Config& config);
  void start_control();
  static void after_fork_in_child();

  usage::Publication publication_;
  memory::AddressSpace space_;
  WorkServices work_;
  const Devices devices_;
  MemoryServices memory_;
  CodeServices code_;
  GraphServices graphs_;
  GraphicsServices graphics_;
  VirtualMemory virtual_memory_;
  CurrentPools current_pools_;
  std::vector<std::unique_ptr<PrimaryContext>> primary_contexts_;  // by device
  OwnProcess own_process_;
  std::unique_ptr<ControlServer> control_;  // null: the system has no more threads
};

}  // namespace softgpu::runtime
