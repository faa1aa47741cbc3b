// This process's page of counters.
#pragma once

#include <memory>
#include <string>

#include "softgpu/usage/page.hpp"

namespace softgpu::usage {

// Makes the page where others find it, and takes it away when the process exits. A process that is killed leaves its
// file behind; whoever reads it next sees that the process is gone, and removes it.
class Publication {
 public:
  // `folder`: empty for the user's own. Where there is no folder to write to, the counters work all the same, and
  // nobody sees them.
  Publication(const std::string& folder, unsigned devices, unsigned seats);
  ~Publication();
  Publication(const Publication&) = delete;
  Publication& operator=(const Publication&) = delete;

  Page& page() { return *page_; }
  bool is_visible() const { return !file_.empty(); }
  // Where it is; empty when nobody sees it.
  const std::string& folder() const { return folder_; }
  // Takes the file away, if it is this process that made it.
  void withdraw();

 private:
  Page* map_file(const std::string& folder);

  Page* page_ = nullptr;
  std::string folder_, file_;
};

// How the name of the socket ends by which a process is controlled, beside its page.
inline constexpr const char* kControlSuffix = ".control";

// The folder for all processes of this user: /run/user/UID/softgpu where the system has that, else /tmp/softgpu-UID.
// Whatever the environment says, so that processes of different sessions find each other.
std::string user_folder();

}  // namespace softgpu::usage
