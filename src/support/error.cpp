#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI {
namespace {

std::string message(const DriverError::Details& details) {
  return support::text(details.doing, details.doing.empty() ? "" : ": ", details.call, " failed with ", details.name,
                       " (", details.code, "): ", details.description,
                       details.reason.empty() ? "" : ". The driver says: ", details.reason);
}

std::string message(const LibraryError::Details& details) {
  return support::text(details.library, ": ", details.call, " failed with code ", details.code, " (",
                       details.description, "), in ", details.path);
}

std::string with_log(const std::string& summary, const std::string& log) {
  return log.empty() ? summary : summary + "\n" + log;
}

std::string message(const CompileError::Details& details) {
  return with_log(with_log(details.summary, details.log), details.source);
}

}  // namespace

// Defined here, so that the type information of each class is in this library alone.
Error::~Error() = default;
DriverError::~DriverError() = default;
OutOfMemory::~OutOfMemory() = default;
CompileError::~CompileError() = default;
LinkError::~LinkError() = default;
LibraryError::~LibraryError() = default;
InvalidArgument::~InvalidArgument() = default;
NotSupported::~NotSupported() = default;

DriverError::DriverError(Details details)
    : Error(message(details)), details_(std::make_shared<const Details>(std::move(details))) {}

CompileError::CompileError(Details details)
    : Error(message(details)), details_(std::make_shared<const Details>(std::move(details))) {}

CompileError::CompileError(const std::string& summary, std::string log)
    : CompileError(Details{.summary = summary, .log = std::move(log)}) {}

LinkError::LinkError(const std::string& summary, std::string log)
    : Error(with_log(summary, log)), log_(std::make_shared<const std::string>(std::move(log))) {}

LibraryError::LibraryError(Details details)
    : Error(message(details)), details_(std::make_shared<const Details>(std::move(details))) {}

}  // namespace cuprum::inline CUPRUM_ABI
