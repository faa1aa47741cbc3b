#include "probe.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <exception>
#include <system_error>

namespace cuprum::cli {
namespace {

constexpr int failed = 3;  // the child's exit code when the text is the words of an exception

[[noreturn]] void throw_errno(const char* call) { throw std::system_error(errno, std::generic_category(), call); }

void write_all(int file, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t written = write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    done += static_cast<std::size_t>(written);
  }
}

std::string read_all(int file) {
  std::string text;
  char part[4096];
  for (;;) {
    const ssize_t count = read(file, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return text;
    text.append(part, static_cast<std::size_t>(count));
  }
}

[[noreturn]] void be_the_child(const std::function<std::string()>& probe, int file, int seconds) {
  alarm(static_cast<unsigned>(seconds));
  const int nowhere = open("/dev/null", O_RDWR);
  for (int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (nowhere >= 0) dup2(nowhere, stream);
  }
  int code = 0;
  std::string text;
  try {
    text = probe();
  } catch (const std::exception& error) {
    text = error.what();
    code = failed;
  }
  write_all(file, text);
  _exit(code);  // the libraries' own ends of process are not ours to wait for
}

std::string ending(int status) {
  if (!WIFSIGNALED(status)) return "the process that tried it ended with code " + std::to_string(WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) return "it did not answer in time";
  return std::string("it crashed: ") + strsignal(WTERMSIG(status));
}

}  // namespace

Probe::Probe(const std::function<std::string()>& probe, int seconds) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
  child_ = fork();
  if (child_ == 0) be_the_child(probe, ends[1], seconds);
  const int error = errno;
  close(ends[1]);
  answer_ = ends[0];
  if (child_ < 0) {
    close(answer_);
    throw std::system_error(error, std::generic_category(), "fork");
  }
}

Probe::~Probe() {
  if (child_ > 0) finish();
}

ProbeResult Probe::finish() {
  std::string text = read_all(answer_);
  close(answer_);
  int status = 0;
  while (waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = -1;
  if (status == 0) return {std::move(text), {}};
  if (WIFEXITED(status) && WEXITSTATUS(status) == failed) return {{}, std::move(text)};
  return {{}, ending(status)};
}

}  // namespace cuprum::cli
