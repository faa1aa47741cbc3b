#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum {
namespace {

std::string message(const DriverError::Details& details) {
  return support::text(details.doing, details.doing.empty() ? "" : ": ", details.call, " failed with ", details.name,
                       " (", details.code, "): ", details.description);
}

std::string with_log(const std::string& summary, const std::string& log) {
  return log.empty() ? summary : summary + "\n" + log;
}

}  // namespace

// Defined here, so that the type information of each class is in this library alone.
Error::~Error() = default;
DriverError::~DriverError() = default;
OutOfMemory::~OutOfMemory() = default;
CompileError::~CompileError() = default;
LinkError::~LinkError() = default;
InvalidArgument::~InvalidArgument() = default;
NotSupported::~NotSupported() = default;

DriverError::DriverError(Details details)
    : Error(message(details)), details_(std::make_shared<const Details>(std::move(details))) {}

CompileError::CompileError(const std::string& summary, std::string log)
    : Error(with_log(summary, log)), log_(std::make_shared<const std::string>(std::move(log))) {}

LinkError::LinkError(const std::string& summary, std::string log)
    : Error(with_log(summary, log)), log_(std::make_shared<const std::string>(std::move(log))) {}

}  // namespace cuprum
