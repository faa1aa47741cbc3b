// What modules and libraries need of the process: one of it for all of them.
#pragma once

#include <cuda.h>

#include <memory>

#include "softgpu/jit/compiler_settings.hpp"
#include "softgpu/jit/object_cache.hpp"
#include "softgpu/runtime/base/handles.hpp"

namespace softgpu::runtime {

class Function;
class Kernel;
class Library;
class LinkState;
struct MemoryServices;
class Module;

// Thread-safe.
struct CodeServices {
  CodeServices(MemoryServices& memory_services, jit::CompilerSettings settings, std::shared_ptr<jit::ObjectCache> cache)
      : memory(memory_services), compiler_settings(std::move(settings)), object_cache(std::move(cache)) {}

  MemoryServices& memory;
  const jit::CompilerSettings compiler_settings;
  const std::shared_ptr<jit::ObjectCache> object_cache;
  HandleTable<CUmodule, Module> modules;
  HandleTable<CUfunction, Function> functions;
  HandleTable<CUlibrary, Library> libraries;
  HandleTable<CUkernel, Kernel> kernels;
  HandleTable<CUlinkState, LinkState> links;
};

}  // namespace softgpu::runtime
