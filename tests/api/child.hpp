// Running tests of this program in a process of their own.
#pragma once

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

namespace cuprum::tests {

/// Runs the tests that `filter` names with some environment variables ("NAME=value") set. Returns what waitpid() says:
/// 0 when all passed.
inline int run_in_child(const std::string& filter, const std::vector<std::string>& settings) {
  const std::string option = "--gtest_filter=" + filter;
  const char* arguments[] = {"/proc/self/exe", option.c_str(), "--gtest_brief=1", nullptr};
  std::vector<char*> environment;
  for (const std::string& setting : settings) environment.push_back(const_cast<char*>(setting.c_str()));
  for (char** inherited = environ; *inherited; ++inherited) environment.push_back(*inherited);
  environment.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawn(&child, arguments[0], nullptr, nullptr, const_cast<char**>(arguments), environment.data()) != 0) {
    return -1;
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

}  // namespace cuprum::tests
