#include "core/memory/pool_imports.hpp"

#include <cstring>

#include "core/ipc/resources.hpp"
#include "core/memory/memory_pool.hpp"
#include "driver/release.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using detail::IpcAccess;
using detail::StreamResource;
using driver::Api;
using driver::Doing;
using support::text;

/// A mapping that nobody has yet.
class NewMapping {
 public:
  NewMapping(CUmemoryPool pool, const IPCBufferDescriptor& descriptor, const StreamResource& stream) : stream_(stream) {
    static_assert(sizeof(CUmemPoolPtrExportData) == sizeof(detail::IpcPayload));
    CUmemPoolPtrExportData data;
    std::memcpy(&data, IpcAccess::payload(descriptor).data(), sizeof(data));
    driver::call<&Api::cuMemPoolImportPointer>(Doing{[&] { return text("importing ", descriptor); }}, &pointer_, pool,
                                               &data);
  }
  NewMapping(const NewMapping&) = delete;
  NewMapping& operator=(const NewMapping&) = delete;
  ~NewMapping() {
    if (pointer_) driver::release<&Api::cuMemFreeAsync>(pointer_, stream_.handle);
  }

  std::size_t extent() const {
    std::size_t bytes = 0;
    driver::call<&Api::cuPointerGetAttribute>(Doing{[] { return "asking for the size of imported memory"; }}, &bytes,
                                              CU_POINTER_ATTRIBUTE_RANGE_SIZE, pointer_);
    return bytes;
  }
  CUdeviceptr get() const { return pointer_; }
  void release() { pointer_ = 0; }

 private:
  const StreamResource& stream_;
  CUdeviceptr pointer_ = 0;
};

/// A call that can be done without.
template <auto Entry, typename... Arguments>
bool attempt(Arguments... arguments) noexcept {
  const Api* table = driver::usable_api();
  if (!table) return false;
  const auto& entry = table->*Entry;
  return entry.function && entry.function(arguments...) == CUDA_SUCCESS;
}

/// Stands for the work queued on a stream; null when there is no such event, and the work is done instead.
CUevent work_of(const StreamResource& stream) noexcept {
  CUevent done = nullptr;
  if (attempt<&Api::cuEventCreate>(&done, static_cast<unsigned>(CU_EVENT_DISABLE_TIMING))) {
    if (attempt<&Api::cuEventRecord>(done, stream.handle)) return done;
    driver::release<&Api::cuEventDestroy>(done);
  }
  driver::release<&Api::cuStreamSynchronize>(stream.handle);
  return nullptr;
}

void wait_for(CUevent work, const StreamResource& stream) noexcept {
  if (!attempt<&Api::cuStreamWaitEvent>(stream.handle, work, 0u)) driver::release<&Api::cuEventSynchronize>(work);
  driver::release<&Api::cuEventDestroy>(work);
}

void check_size(const IPCBufferDescriptor& descriptor, std::size_t extent) {
  if (descriptor.size() <= extent) return;
  throw InvalidArgument(
      text("refused ", descriptor, ": its size exceeds the mapped allocation extent, ", extent, " bytes"));
}

}  // namespace

DevicePointer PoolImports::import(const detail::Kept<OwnedPool>& pool, const IPCBufferDescriptor& descriptor,
                                  const StreamResource& stream) {
  ContextGuard guard(stream.context());
  std::lock_guard lock(mutex_);
  const detail::IpcPayload& payload = IpcAccess::payload(descriptor);
  if (const auto known = addresses_.find(payload); known != addresses_.end()) {
    Mapping& mapping = mappings_.at(known->second);
    check_size(descriptor, mapping.extent);
    mapping.before.reserve(mapping.before.size() + mapping.users + 1);  // let_go() can't
    ++mapping.users;
    return known->second;
  }
  NewMapping fresh(pool->handle(), descriptor, stream);
  const std::size_t extent = fresh.extent();
  check_size(descriptor, extent);
  const auto [entry, is_new] = addresses_.emplace(payload, fresh.get());
  try {
    mappings_.insert_or_assign(fresh.get(), Mapping{pool, descriptor, extent, 1, {}});
  } catch (...) {
    addresses_.erase(entry);
    throw;
  }
  const DevicePointer pointer = fresh.get();
  fresh.release();
  return pointer;
}

void PoolImports::let_go(DevicePointer pointer, const StreamResource& stream) noexcept {
  ContextGuard guard(stream.context(), std::nothrow);
  if (!guard.entered()) return;
  std::lock_guard lock(mutex_);
  const auto found = mappings_.find(pointer);
  if (found == mappings_.end()) return;
  Mapping& mapping = found->second;
  if (--mapping.users > 0) {
    // The memory is freed on another stream than this, which must then be as far as this one is now.
    if (CUevent work = work_of(stream)) mapping.before.push_back(work);
    return;
  }
  for (CUevent work : mapping.before) wait_for(work, stream);
  driver::release<&Api::cuMemFreeAsync>(pointer, stream.handle);
  addresses_.erase(IpcAccess::payload(mapping.descriptor));
  mappings_.erase(found);
}

IPCBufferDescriptor PoolImports::descriptor_of(DevicePointer pointer, std::size_t size) const {
  std::lock_guard lock(mutex_);
  const auto found = mappings_.find(pointer);
  if (found == mappings_.end()) {
    throw InvalidArgument(text("the memory at ", reinterpret_cast<void*>(pointer),
                               " was not imported by Buffer::from_ipc_descriptor, so it can't be passed on"));
  }
  const IPCBufferDescriptor& descriptor = found->second.descriptor;
  return IpcAccess::buffer(IpcAccess::origin(descriptor), descriptor.memory_resource_uuid(), size,
                           IpcAccess::payload(descriptor));
}

}  // namespace cuprum::core
