// What a program hands over to graphs: CUuserObject.
#pragma once

#include <cuda.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

#include "softgpu/runtime/base/handles.hpp"

namespace softgpu::runtime {

// Counted by the program's own references; the function is called when the last one goes. Thread-safe.
class UserObject : public std::enable_shared_from_this<UserObject> {
 public:
  // It goes from the table with its last reference.
  UserObject(HandleTable<CUuserObject, UserObject>& handles, void* data, CUhostFn destroy, unsigned references)
      : handles_(handles), data_(data), destroy_(destroy), references_(references) {}

  void retain(unsigned count) { references_ += count; }
  // Throws CUDA_ERROR_INVALID_VALUE when there are fewer.
  void release(unsigned count);
  // As many of them as there are, should the program have released some of a graph's.
  void drop(unsigned count) noexcept;

  void set_handle(CUuserObject handle) { handle_ = handle; }

 private:
  HandleTable<CUuserObject, UserObject>& handles_;
  void* const data_;
  const CUhostFn destroy_;
  std::atomic<unsigned> references_;
  CUuserObject handle_ = nullptr;
};

// The references that a graph has. Threads may add and release some at the same time.
class UserObjects {
 public:
  UserObjects() = default;
  UserObjects(const UserObjects& other);
  UserObjects(UserObjects&& other) noexcept { swap(other); }
  UserObjects& operator=(UserObjects other);
  ~UserObjects();

  // Takes over references that somebody has.
  void adopt(const std::shared_ptr<UserObject>& object, unsigned count);
  // Throws CUDA_ERROR_INVALID_VALUE when it has fewer.
  void release(const std::shared_ptr<UserObject>& object, unsigned count);
  void swap(UserObjects& other) noexcept { counts_.swap(other.counts_); }

 private:
  mutable std::mutex mutex_;
  std::map<std::shared_ptr<UserObject>, unsigned> counts_;
};

}  // namespace softgpu::runtime
