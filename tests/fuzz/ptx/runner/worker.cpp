#include "fuzz/ptx/runner/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ptx_fuzz {
namespace {

// An answer is a header of this size, the kind and the text's length, and the text.
constexpr std::size_t kHeader = 16;

void answer(const Verdict& verdict) {
  char header[kHeader + 1];
  std::snprintf(header, sizeof header, "%1d %13zu\n", static_cast<int>(verdict.kind), verdict.text.size());
  std::cout.write(header, kHeader);
  std::cout << verdict.text << std::flush;
}

std::vector<std::string> environment_for(const std::string& width) {
  std::vector<std::string> variables;
  // Kernels are compiled each time, and the processes share the cores among them.
  for (const auto& [name, value] : {std::pair("SOFTGPU_CACHE_SIZE", "0"), std::pair("SOFTGPU_WORKERS", "1")})
    if (std::getenv(name) == nullptr) variables.push_back(std::string(name) + "=" + value);
  if (!width.empty()) variables.push_back("SOFTGPU_WIDTH=" + width);
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (width.empty() || std::strncmp(*variable, "SOFTGPU_WIDTH=", 14) != 0) variables.emplace_back(*variable);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

int work(const Features& allowed) {
  std::uint64_t known_seed = 0;
  Program known;
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream in(line);
    Choice choice;
    std::string numbers;
    in >> choice.seed >> numbers;
    if (known.functions.empty() || known_seed != choice.seed)
      known = defined_program(known_seed = choice.seed, allowed);
    const Verdict verdict = try_program(without(known, parse_numbers(numbers)));
    answer(verdict);
    // The context may be unusable after an error.
    if (verdict.kind == Verdict::Kind::failed) return 0;
  }
  return 0;
}

void Worker::start() {
  if (process_ >= 0) return;
  static std::mutex mutex;  // no other process may inherit these pipes
  const std::lock_guard lock(mutex);
  int input[2], output[2];
  if (pipe2(input, O_CLOEXEC) != 0 || pipe2(output, O_CLOEXEC) != 0)
    throw std::runtime_error("there are no pipes left");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input[0], 0);
  posix_spawn_file_actions_adddup2(&actions, output[1], 1);
  std::vector<std::string> arguments = {"ptx_fuzz", "--worker"};
  if (!features_.empty()) arguments.insert(arguments.end(), {"--features", features_});
  std::vector<std::string> environment = environment_for(width_);
  const int error = posix_spawn(&process_, "/proc/self/exe", &actions, nullptr, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  close(input[0]);
  close(output[1]);
  to_ = input[1];
  from_ = output[0];
  if (error != 0) throw std::runtime_error(std::string("can't start a process: ") + std::strerror(error));
}

void Worker::stop() {
  if (process_ < 0) return;
  kill(process_, SIGKILL);
  end_of_process();
}

// Waits for it and says how it ended.
std::string Worker::end_of_process() {
  close(to_);
  close(from_);
  int status = 0;
  waitpid(process_, &status, 0);
  process_ = -1;
  if (WIFSIGNALED(status)) return std::string("signal ") + strsignal(WTERMSIG(status));
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

bool Worker::send(const std::string& line) {
  return write(to_, line.data(), line.size()) == static_cast<ssize_t>(line.size());
}

bool Worker::receive(std::size_t bytes, std::chrono::steady_clock::time_point deadline, bool& in_time,
                     std::string& text) {
  text.clear();
  while (text.size() < bytes) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd descriptor{from_, POLLIN, 0};
    const int ready = left.count() > 0 ? poll(&descriptor, 1, static_cast<int>(left.count())) : 0;
    if (ready == 0) return in_time = false;
    std::string piece(bytes - text.size(), '\0');
    const ssize_t got = read(from_, piece.data(), piece.size());
    if (got <= 0) return false;
    text.append(piece, 0, static_cast<std::size_t>(got));
  }
  return true;
}

Verdict Worker::run(const Choice& choice, std::chrono::milliseconds limit) {
  start();
  const auto deadline = std::chrono::steady_clock::now() + limit;
  bool in_time = true;
  std::string header, text;
  const bool answered = send(std::to_string(choice.seed) + " " + write_numbers(choice.without) + "\n") &&
                        receive(kHeader, deadline, in_time, header) &&
                        receive(std::strtoul(header.c_str() + 1, nullptr, 10), deadline, in_time, text);
  if (!answered && !in_time) {
    stop();
    return {Verdict::Kind::hangs, "no answer after " + std::to_string(limit.count()) + " ms\n"};
  }
  if (!answered) return {Verdict::Kind::crashed, end_of_process() + "\n"};
  const auto kind = static_cast<Verdict::Kind>(header[0] - '0');
  if (kind == Verdict::Kind::failed) stop();
  return {kind, text};
}

}  // namespace ptx_fuzz
