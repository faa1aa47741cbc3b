// Managed memory that does not come from a pool.
#pragma once

#include <cuprum/driver.hpp>

namespace cuprum::tests {

/// Managed memory that somebody else allocated.
struct ForeignManaged {
  explicit ForeignManaged(std::size_t size) {
    driver::call<&driver::Api::cuMemAllocManaged>(&pointer, size, static_cast<unsigned>(CU_MEM_ATTACH_GLOBAL));
  }
  ~ForeignManaged() { driver::call<&driver::Api::cuMemFree>(pointer); }
  ForeignManaged(const ForeignManaged&) = delete;
  ForeignManaged& operator=(const ForeignManaged&) = delete;
  CUdeviceptr pointer = 0;
};

}  // namespace cuprum::tests
