// A link in progress: the two linkers behind one face.
#pragma once

#include <cuprum/linker.hpp>
#include <memory>
#include <string>

#include "core/code/object_code_resource.hpp"

namespace cuprum::core {

struct Linked {
  Target type;
  std::string bytes;
};

class LinkState {
 public:
  LinkState() = default;
  LinkState(const LinkState&) = delete;
  LinkState& operator=(const LinkState&) = delete;
  virtual ~LinkState() = default;

  /// Both throw LinkError with the linker's log, for the driver's DriverError when it has none.
  virtual void add(const detail::Code& code) = 0;
  virtual Linked complete(Target target) = 0;

  virtual std::string info_log() const = 0;
  virtual std::string error_log() const = 0;
  virtual void* handle() const = 0;
};

std::unique_ptr<LinkState> start_nvjitlink(const LinkerOptions& options);

/// In the context of the current device.
std::unique_ptr<LinkState> start_driver_link(const LinkerOptions& options);

/// What messages call an input: "'part.cu' (cubin for sm_90)".
std::string title_of_input(const detail::Code& code);

std::unique_ptr<LinkState> start_link(const LinkerOptions& options, CompilerBackendType backend);

}  // namespace cuprum::core
