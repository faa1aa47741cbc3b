// Running tests of this program in a process of their own, for what can only be seen from another process or with other
// settings from the start.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <vector>

namespace own_process {

/// A file descriptor that the process gets, and the number it has there.
struct Inherited {
  int here;
  int there;
};

/// Starts this program for the tests that `filter` names, disabled ones too, with environment variables ("NAME=value")
/// added. Returns its process id, or -1.
inline pid_t start(const std::string& filter, const std::vector<std::string>& settings = {},
                   const std::vector<Inherited>& inherited = {}) {
  const std::string option = "--gtest_filter=" + filter;
  const char* arguments[] = {"/proc/self/exe", option.c_str(), "--gtest_also_run_disabled_tests", "--gtest_brief=1",
                             nullptr};
  std::vector<char*> environment;
  for (const std::string& setting : settings) environment.push_back(const_cast<char*>(setting.c_str()));
  for (char** variable = environ; *variable != nullptr; ++variable) {
    // What GoogleTest is told by variables, such as which share of the tests to run, is meant for this process.
    if (!std::string_view(*variable).starts_with("GTEST_")) environment.push_back(*variable);
  }
  environment.push_back(nullptr);

  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const Inherited& descriptor : inherited) {
    posix_spawn_file_actions_adddup2(&actions, descriptor.here, descriptor.there);  // also keeps it open
  }
  pid_t process = -1;
  const int error =
      posix_spawn(&process, arguments[0], &actions, nullptr, const_cast<char**>(arguments), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? process : -1;
}

/// Runs them and returns what waitpid() says: 0 when all passed.
inline int run(const std::string& filter, const std::vector<std::string>& settings = {}) {
  const pid_t process = start(filter, settings);
  if (process < 0) return -1;
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

}  // namespace own_process
