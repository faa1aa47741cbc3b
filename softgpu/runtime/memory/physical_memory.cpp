#include "softgpu/runtime/memory/physical_memory.hpp"

#include <map>

#include "softgpu/runtime/base/device.hpp"
#include "softgpu/runtime/base/error.hpp"
#include "softgpu/runtime/base/location.hpp"
#include "softgpu/runtime/memory/memory_pool.hpp"
#include "softgpu/runtime/memory/memory_services.hpp"

namespace softgpu::runtime {
namespace {

using memory::SharedFile;

// The memory that this process knows, so that what it exports and imports again is one thing, counted once.
class Registry {
 public:
  std::shared_ptr<PhysicalMemory> find(const SharedFile::Id& id) {
    const std::scoped_lock lock(mutex_);
    const auto it = known_.find(id);
    return it == known_.end() ? nullptr : it->second.lock();
  }
  void add(const SharedFile::Id& id, const std::shared_ptr<PhysicalMemory>& memory) {
    const std::scoped_lock lock(mutex_);
    known_[id] = memory;
  }
  void remove(const SharedFile::Id& id) {
    const std::scoped_lock lock(mutex_);
    if (const auto it = known_.find(id); it != known_.end() && it->second.expired()) known_.erase(it);
  }

 private:
  std::mutex mutex_;
  std::map<SharedFile::Id, std::weak_ptr<PhysicalMemory>> known_;
};

Registry& registry() {
  static auto& instance = *new Registry;
  return instance;
}

void check(const Devices& devices, const CUmemAllocationProp& properties) {
  require(properties.type == CU_MEM_ALLOCATION_TYPE_PINNED, CUDA_ERROR_INVALID_VALUE, "no such type of allocation");
  switch (properties.location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE: devices.at(properties.location.id); break;
    case CU_MEM_LOCATION_TYPE_HOST:
      require(properties.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_INVALID_VALUE,
              "memory on the host can be shared where its NUMA node is given");
      break;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      require(is_numa_node(properties.location.id), CUDA_ERROR_INVALID_VALUE, "no such NUMA node");
      break;
    default: throw Failure(CUDA_ERROR_INVALID_VALUE, "no such location for memory");
  }
  constexpr unsigned kKnown = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_WIN32 |
                              CU_MEM_HANDLE_TYPE_WIN32_KMT | CU_MEM_HANDLE_TYPE_FABRIC;
  const auto handles = static_cast<unsigned>(properties.requestedHandleTypes);
  require((handles & ~kKnown) == 0, CUDA_ERROR_INVALID_VALUE, "unknown types of handles");
  require((handles & ~unsigned{CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR}) == 0, CUDA_ERROR_NOT_SUPPORTED,
          "softgpu shares memory by file descriptor only");
}

// What it is, of what was asked for: memory without compression and without direct access for other hardware.
CUmemAllocationProp as_made(CUmemAllocationProp properties) {
  properties.allocFlags = {};
  if (properties.location.type == CU_MEM_LOCATION_TYPE_HOST) properties.location.id = 0;
  return properties;
}

}  // namespace

PhysicalMemory::PhysicalMemory(Handles& handles, std::shared_ptr<SharedFile> file, std::shared_ptr<memory::Heap> heap)
    : handles_(handles), file_(std::move(file)), heap_(std::move(heap)) {}

PhysicalMemory::~PhysicalMemory() {
  if (handle_ != nullptr) handles_.discard(handle_);
  if (heap_ != nullptr) {
    heap_->remove(*this);
    heap_->refund(bytes());
  }
  registry().remove(file_->id());
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::make(Handles& handles, std::shared_ptr<SharedFile> file,
                                                     std::shared_ptr<memory::Heap> heap) {
  std::shared_ptr<PhysicalMemory> made(new PhysicalMemory(handles, std::move(file), std::move(heap)));
  made->handle_ = handles.add(made);
  registry().add(made->file_->id(), made);
  if (made->heap_ != nullptr) made->heap_->add(*made);
  return made;
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::create(MemoryServices& services, std::size_t bytes,
                                                       const CUmemAllocationProp& properties) {
  check(services.devices, properties);
  require(bytes != 0 && bytes % kGranularity == 0, CUDA_ERROR_INVALID_VALUE,
          "the size is not a multiple of the granularity");
  const auto& heap = services.heap_of(properties.location);
  with_reclaiming(services, [&] { heap->charge(bytes); });
  std::shared_ptr<SharedFile> file;
  try {
    file = SharedFile::create(SharedFile::Purpose::physical_memory, bytes, as_made(properties));
  } catch (...) {
    heap->refund(bytes);
    throw;
  }
  return make(services.physical_memory, std::move(file), heap);
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::import(MemoryServices& services, int descriptor,
                                                       CUmemAllocationHandleType type) {
  require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE,
          "memory is shared by file descriptor");
  auto file = SharedFile::open(SharedFile::Purpose::physical_memory, memory::Descriptor::duplicate(descriptor));
  require(file != nullptr, CUDA_ERROR_INVALID_VALUE, "not a descriptor of shared memory");
  if (auto known = registry().find(file->id())) {
    known->retain();
    return known;
  }
  check(services.devices, file->properties<CUmemAllocationProp>());
  require(file->bytes() != 0 && file->bytes() % kGranularity == 0, CUDA_ERROR_INVALID_VALUE,
          "not a size that memory can have");
  return make(services.physical_memory, std::move(file), nullptr);
}

std::shared_ptr<PhysicalMemory> PhysicalMemory::find(const MemoryServices& services,
                                                     CUmemGenericAllocationHandle handle) {
  return services.physical_memory.find(reinterpret_cast<PhysicalHandle>(handle));
}

CUmemAllocationProp PhysicalMemory::properties() const {
  auto properties = file_->properties<CUmemAllocationProp>();
  if (heap_ == nullptr) properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  return properties;
}

void PhysicalMemory::visit(memory::ContentVisitor& visitor) const { visitor.file(*file_, 0, bytes()); }

CUmemGenericAllocationHandle PhysicalMemory::handle() const {
  return reinterpret_cast<CUmemGenericAllocationHandle>(handle_);
}

void PhysicalMemory::retain() {
  const std::scoped_lock lock(mutex_);
  if (references_++ == 0) handles_.replace(handle_, shared_from_this());
}

void PhysicalMemory::release() {
  const auto keep = shared_from_this();
  const std::scoped_lock lock(mutex_);
  require(references_ != 0, CUDA_ERROR_INVALID_VALUE, "the handle is released already");
  if (--references_ == 0) handles_.replace(handle_, nullptr);
}

int PhysicalMemory::share(CUmemAllocationHandleType type) const {
  const auto allowed = static_cast<unsigned>(file_->properties<CUmemAllocationProp>().requestedHandleTypes);
  require(type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR && (allowed & static_cast<unsigned>(type)) != 0,
          CUDA_ERROR_INVALID_VALUE, "the memory was not created for handles of this type");
  memory::Descriptor descriptor = file_->descriptor().duplicate();
  require(static_cast<bool>(descriptor), CUDA_ERROR_OPERATING_SYSTEM, "the process has too many open files");
  file_->note_shared();
  return descriptor.release();
}

}  // namespace softgpu::runtime
