// The driver's table with some entry points missing, or watched.
#pragma once

#include <cuprum/driver.hpp>

namespace cuprum::tests {

/// A table in which some entry points are missing or watched.
class ChangedApi {
 public:
  ChangedApi() : table(driver::api()) { real = &driver::replace_api(table); }
  ~ChangedApi() { driver::replace_api(*real); }
  ChangedApi(const ChangedApi&) = delete;
  ChangedApi& operator=(const ChangedApi&) = delete;
  driver::Api table;
  static inline const driver::Api* real = nullptr;
};

}  // namespace cuprum::tests
