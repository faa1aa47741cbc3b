// Memory that graphs allocate.
//
//   GraphMemoryResource memory(device);
//   builder.begin_building();
//   Buffer scratch = memory.allocate(4096, builder);      // allocated each time the graph gets here
//   scratch.fill<int>(0, builder);
//   scratch.close(builder);                               // and freed here
//   builder.end_building();
//   std::cout << memory.attributes().used_mem_high();
//   memory.trim();
#pragma once

#include <cstdint>
#include <cuprum/detail/export.hpp>
#include <cuprum/memory_resource.hpp>
#include <iosfwd>
#include <memory>

namespace cuprum::inline CUPRUM_ABI {

class Device;

/// How much memory of a device belongs to graphs; asked of the driver at each call. Functions throw DriverError when
/// the driver refuses. Threads may share it.
class CUPRUM_API GraphMemoryResourceAttributes {
 public:
  /// Bytes that are held for graphs.
  std::uint64_t reserved_mem_current() const;
  /// The most there have been since the mark was reset.
  std::uint64_t reserved_mem_high() const;
  /// Sets that mark to what is held now.
  void reset_reserved_mem_high() const;

  /// Bytes that graphs use, or keep for their next launch.
  std::uint64_t used_mem_current() const;
  /// The most there have been since the mark was reset.
  std::uint64_t used_mem_high() const;
  /// Sets that mark to what is used now.
  void reset_used_mem_high() const;

 private:
  friend class GraphMemoryResource;
  explicit GraphMemoryResourceAttributes(int device) : device_(device) {}
  int device_;
};

/// Prints each attribute as "name=value".
CUPRUM_API std::ostream& operator<<(std::ostream& out, const GraphMemoryResourceAttributes& attributes);

/// Allocates on streams that are being captured, and nowhere else: the allocation becomes a node of the graph, with an
/// address that is known at once. There is one for each device; all handles stand for it.
///
/// A buffer that is closed, or goes, while a stream is captured that it is to be freed on is freed by a node of that
/// graph, which may be another one than it is from. One that goes later is freed on its stream if the graph was
/// launched and has not freed it; if there is nothing to free, nothing happens. Memory that is not freed must be before
/// the graph is launched again, unless it was completed with auto_free_on_launch.
class CUPRUM_API GraphMemoryResource : public MemoryResource {
 public:
  /// A handle of the device's one.
  explicit GraphMemoryResource(const Device& device);

  /// How much memory it has.
  GraphMemoryResourceAttributes attributes() const;

  /// Gives memory that graphs don't use back to the system.
  void trim() const;

  /// Does nothing: the resource is the device's.
  void close() {}

  /// See MemoryResource::as.
  static bool is_kind_of(const MemoryResource& resource);

 private:
  friend class MemoryResource;
  explicit GraphMemoryResource(std::shared_ptr<MemoryResource::Interface> memory) : MemoryResource(std::move(memory)) {}
};

}  // namespace cuprum::inline CUPRUM_ABI
