#include <cstring>
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

// what() ends at the first zero byte. One that is quoted, in a path say, must not hide what comes after it.
std::string without_zeros(std::string message) {
  for (std::size_t at = 0; (at = message.find('\0', at)) != std::string::npos; at += 2) message.replace(at, 1, "\\0");
  return message;
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
WrongType::~WrongType() = default;
WrongState::~WrongState() = default;
SystemError::~SystemError() = default;
NotSupported::~NotSupported() = default;

Error::Error(std::string message) : message_(std::make_shared<const std::string>(without_zeros(std::move(message)))) {}

const char* Error::what() const noexcept { return message_->c_str(); }

// Each overrides what() of both its bases.
const char* OutOfMemory::what() const noexcept { return Error::what(); }
const char* CompileError::what() const noexcept { return Error::what(); }
const char* LinkError::what() const noexcept { return Error::what(); }
const char* LibraryError::what() const noexcept { return Error::what(); }
const char* InvalidArgument::what() const noexcept { return Error::what(); }
const char* SystemError::what() const noexcept { return Error::what(); }
const char* NotSupported::what() const noexcept { return Error::what(); }

DriverError::DriverError(Details details)
    : Error(message(details)), details_(std::make_shared<const Details>(std::move(details))) {}

OutOfMemory::OutOfMemory(Details details) : DriverError(std::move(details)) {}

CompileError::CompileError(Details details)
    : Error(message(details)), std::runtime_error(""), details_(std::make_shared<const Details>(std::move(details))) {}

CompileError::CompileError(const std::string& summary, std::string log)
    : CompileError(Details{.summary = summary, .log = std::move(log)}) {}

LinkError::LinkError(const std::string& summary, std::string log)
    : Error(with_log(summary, log)),
      std::runtime_error(""),
      log_(std::make_shared<const std::string>(std::move(log))) {}

LibraryError::LibraryError(Details details)
    : Error(message(details)), std::runtime_error(""), details_(std::make_shared<const Details>(std::move(details))) {}

InvalidArgument::InvalidArgument(const std::string& message) : Error(message), std::invalid_argument("") {}

SystemError::SystemError(const std::string& message, int code)
    : Error(support::text(message, ": ", std::strerror(code))), std::runtime_error(""), code_(code) {}

NotSupported::NotSupported(const std::string& message, std::optional<int> code)
    : Error(message), std::runtime_error(""), code_(code) {}

}  // namespace cuprum::inline CUPRUM_ABI
