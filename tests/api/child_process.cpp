#include "api/child_process.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "support/own_process.hpp"

namespace cuprum::tests {
namespace {

using ipc::Channel;

constexpr const char* channel_variable = "CUPRUM_TEST_CHANNEL";

}  // namespace

ChildProcess::ChildProcess(const std::string& test, const std::vector<std::string>& settings,
                           const std::vector<int>& inherited)
    : channel_([&] {
        auto [here, there] = Channel::pair({.timeout_ms = 60'000});
        std::vector<std::string> all = settings;
        all.push_back(std::string(channel_variable) + "=" + std::to_string(there.handle()));
        std::vector<own_process::Inherited> numbers{{there.handle(), there.handle()}};
        for (int number : inherited) numbers.push_back({number, number});
        id_ = own_process::start(test, all, numbers);
        return here;
      }()) {}

ChildProcess::~ChildProcess() { kill(); }

bool ChildProcess::passed() {
  using namespace std::chrono_literals;
  if (id_ < 0) return false;
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  int status = 0;
  while (waitpid(id_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "the other process hangs";
      kill();
      return false;
    }
    std::this_thread::sleep_for(1ms);
  }
  id_ = -1;
  return status == 0;
}

void ChildProcess::kill() {
  if (id_ < 0) return;
  ::kill(id_, SIGKILL);
  waitpid(id_, nullptr, 0);
  id_ = -1;
}

const Channel& channel_to_parent() {
  static const Channel channel = [] {
    const char* number = std::getenv(channel_variable);
    if (number == nullptr) throw InvalidArgument("this test is run by another one, in a process of its own");
    return Channel(std::atoi(number), {.timeout_ms = 60'000});
  }();
  return channel;
}

}  // namespace cuprum::tests
