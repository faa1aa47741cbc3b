#include "fuzz/ptx/runner/worker.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <iostream>
#include <mutex>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ptx_fuzz {
namespace {

// An answer is a header of this size, whether the program ran and the number of bytes, and those: memory, or an error.
constexpr std::size_t kHeader = 16;

void answer(const DeviceRun& run) {
  const bool ran = run.error.empty();
  char header[kHeader + 1];
  std::snprintf(header, sizeof header, "%1d %13zu\n", ran ? 1 : 0, ran ? run.memory.size() : run.error.size());
  std::cout.write(header, kHeader);
  if (ran)
    std::cout.write(reinterpret_cast<const char*>(run.memory.data()), static_cast<std::streamsize>(run.memory.size()));
  else
    std::cout << run.error;
  std::cout << std::flush;
}

// A question is a line of numbers, the sizes of memory and text last, and those.
std::string write_question(const Launch& launch) {
  std::ostringstream out;
  out << launch.blocks << " " << launch.block.x << " " << launch.block.y << " " << launch.block.z;
  for (const std::uint32_t number : launch.parameters) out << " " << number;
  out << " " << launch.memory.size() << " " << launch.ptx.size() << "\n";
  out.write(reinterpret_cast<const char*>(launch.memory.data()), static_cast<std::streamsize>(launch.memory.size()));
  out << launch.ptx;
  return out.str();
}

bool read_question(std::istream& in, Launch& launch) {
  std::size_t memory = 0, text = 0;
  in >> launch.blocks >> launch.block.x >> launch.block.y >> launch.block.z;
  for (std::uint32_t& number : launch.parameters) in >> number;
  in >> memory >> text;
  in.get();
  if (!in) return false;
  launch.memory.resize(memory);
  launch.ptx.resize(text);
  in.read(reinterpret_cast<char*>(launch.memory.data()), static_cast<std::streamsize>(memory));
  in.read(launch.ptx.data(), static_cast<std::streamsize>(text));
  return static_cast<bool>(in);
}

std::vector<std::string> environment_for(const std::string& width, const std::string& cache) {
  // Programs are new, and the processes share the cores among them.
  std::vector<std::pair<std::string, std::string>> settings = {{"SOFTGPU_WORKERS", "1"}};
  if (cache.empty())
    settings.emplace_back("SOFTGPU_CACHE_SIZE", "0");
  else
    settings.insert(settings.end(), {{"SOFTGPU_CACHE_SIZE", "8M"}, {"SOFTGPU_CACHE_DIR", cache}});
  std::vector<std::string> variables;
  for (const auto& [name, value] : settings)
    if (std::getenv(name.c_str()) == nullptr) variables.push_back(name + "=" + value);
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

int work(unsigned optimisation) {
  for (Launch launch; read_question(std::cin, launch);) {
    const DeviceRun run = run_on_device(launch, optimisation);
    answer(run);
    // The context may be unusable after an error.
    if (!run.error.empty()) return 0;
  }
  return 0;
}

Worker::Worker(Worker&& other) noexcept
    : width_(std::move(other.width_)),
      cache_(std::move(other.cache_)),
      optimisation_(other.optimisation_),
      process_(std::exchange(other.process_, -1)),
      to_(other.to_),
      from_(other.from_) {}

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
  std::vector<std::string> arguments = {"ptx_fuzz", "--worker", "--optimisation", std::to_string(optimisation_)};
  std::vector<std::string> environment = environment_for(width_, cache_);
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

bool Worker::send(const Launch& launch) {
  const std::string question = write_question(launch);
  for (std::size_t sent = 0; sent < question.size();) {
    const ssize_t more = write(to_, question.data() + sent, question.size() - sent);
    if (more <= 0) return false;
    sent += static_cast<std::size_t>(more);
  }
  return true;
}

std::chrono::milliseconds Worker::processor_time() const {
  clockid_t clock{};
  timespec used{};
  if (clock_getcpuclockid(process_, &clock) == 0) clock_gettime(clock, &used);
  return std::chrono::milliseconds(1000 * used.tv_sec + used.tv_nsec / 1000000);
}

// On a busy machine a process that does not get on may just not have had its turn.
bool Worker::has_given_up(Patience& patience) const {
  const bool had_its_turn = 2 * (processor_time() - patience.used_before) >= patience.limit;
  if (had_its_turn || patience.extensions == 0) return patience.is_over = true;
  --patience.extensions;
  patience.end += patience.limit;
  return false;
}

bool Worker::receive(std::size_t bytes, Patience& patience, std::string& text) {
  text.clear();
  while (text.size() < bytes) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience.end - std::chrono::steady_clock::now());
    pollfd descriptor{from_, POLLIN, 0};
    const int ready = left.count() > 0 ? poll(&descriptor, 1, static_cast<int>(left.count())) : 0;
    if (ready == 0) {
      if (has_given_up(patience)) return false;
      continue;
    }
    std::string piece(bytes - text.size(), '\0');
    const ssize_t got = read(from_, piece.data(), piece.size());
    if (got <= 0) return false;
    text.append(piece, 0, static_cast<std::size_t>(got));
  }
  return true;
}

Verdict Worker::run(const Trial& trial, std::chrono::milliseconds limit) {
  if (!trial.expected.undefined.empty()) return {Verdict::Kind::undefined, trial.expected.undefined};
  start();
  Patience patience{std::chrono::steady_clock::now() + limit, limit, processor_time()};
  std::string header, bytes;
  const bool answered = send(trial.launch) && receive(kHeader, patience, header) &&
                        receive(std::strtoul(header.c_str() + 1, nullptr, 10), patience, bytes);
  if (!answered && patience.is_over) {
    stop();
    return {Verdict::Kind::hangs, "no answer after " + std::to_string(limit.count()) + " ms\n"};
  }
  if (!answered) return {Verdict::Kind::crashed, end_of_process() + "\n"};
  DeviceRun got;
  if (header[0] == '1')
    got.memory.assign(bytes.begin(), bytes.end());
  else
    got.error = bytes;
  const Verdict verdict = judge(trial, got);
  if (verdict.kind == Verdict::Kind::failed) stop();
  return verdict;
}

}  // namespace ptx_fuzz
