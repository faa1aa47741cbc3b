#include <cuprum/diagnostics.hpp>

#include "core/base/deferred.hpp"
#include "core/code/kernel_resource.hpp"
#include "core/code/object_code_resource.hpp"
#include "core/compile/linker_resource.hpp"
#include "core/compile/program_resource.hpp"
#include "core/graph/resources.hpp"
#include "core/graphics/mapping.hpp"
#include "core/memory/buffer_resource.hpp"
#include "core/memory/memory_pool.hpp"
#include "core/stream/resources.hpp"
#include "core/texture/resources.hpp"
#include "support/log.hpp"

namespace cuprum::inline CUPRUM_ABI {

LogHook set_log_hook(LogHook hook) { return support::set_log_sink(std::move(hook)); }

LiveObjects live_objects() noexcept {
  core::destroy_deferred();
  return {
      .contexts = detail::OwnedContext::alive(),
      .streams = detail::StreamResource::alive(),
      .events = detail::EventResource::alive(),
      .buffers = detail::BufferResource::alive(),
      .memory_pools = core::OwnedPool::alive(),
      .programs = detail::ProgramResource::alive(),
      .linkers = detail::LinkerResource::alive(),
      .object_codes = detail::ObjectCodeResource::alive(),
      .kernels = detail::KernelResource::alive(),
      .graphs = detail::GraphResource::alive(),
      .executable_graphs = detail::GraphExecResource::alive(),
      .graph_builders = detail::GraphBuilderResource::alive(),
      .opaque_arrays = detail::ArrayResource::alive(),
      .mipmapped_arrays = detail::MipmappedArrayResource::alive(),
      .texture_objects = detail::TextureResource::alive(),
      .surface_objects = detail::SurfaceResource::alive(),
      .graphics_resources = core::Registration::alive(),
  };
}

}  // namespace cuprum::inline CUPRUM_ABI
