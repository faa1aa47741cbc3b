// Where processes find each other to be controlled: a socket for each in the folder in which they publish their use of
// the devices, which is the user's alone.
#pragma once

#include <sys/types.h>

#include <string>

#include "softgpu/memory/shared_file.hpp"

namespace softgpu::runtime {

// This process's socket, which others connect to. Not open where there is no folder to put it in. `folder`: empty for
// the user's own.
class ControlSocket {
 public:
  explicit ControlSocket(const std::string& folder);

  const memory::Descriptor& descriptor() const { return socket_; }
  // The other side, if it is the same user's; not open: it is not, or is gone again.
  memory::Descriptor accept() const;
  // Nobody finds it any more.
  void withdraw();
  // In a forked child: it is the parent's, and stays.
  void forget();

 private:
  std::string folder_, name_;
  memory::Descriptor socket_;
};

// A connection to another process of this user. Throws a Failure that says why there is none: no such process, another
// user's, or one in which softgpu is not initialised.
memory::Descriptor connect_to(const std::string& folder, pid_t pid);

}  // namespace softgpu::runtime
