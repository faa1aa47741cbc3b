#pragma once

#include <cuprum/error.hpp>

namespace cuprum::inline CUPRUM_ABI::driver {

/// What is thrown as a DriverError: a std::exception, too.
class DriverFailure final : public DriverError, public std::runtime_error {
 public:
  explicit DriverFailure(Details details) : DriverError(std::move(details)), std::runtime_error("") {}
  const char* what() const noexcept override { return DriverError::what(); }
};

}  // namespace cuprum::inline CUPRUM_ABI::driver
