#include "core/graph/graphviz.hpp"

#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cuprum/error.hpp>
#include <optional>
#include <string_view>

#include "support/file_descriptor.hpp"
#include "support/text.hpp"

extern char** environ;

namespace cuprum::core {
namespace {

using support::FileDescriptor;
using support::text;

[[noreturn]] void refuse_system_call(const char* call) {
  const int error = errno;
  throw SystemError(text("drawing a graph: ", call, " failed"), error);
}

/// In memory, so that no name can meet one of the program's files, and nobody waits for a pipe.
FileDescriptor file_with(std::string_view contents) {
  FileDescriptor file(memfd_create("graph", MFD_CLOEXEC));
  if (!file) refuse_system_call("memfd_create");
  while (!contents.empty()) {
    const ssize_t written = write(file.get(), contents.data(), contents.size());
    if (written < 0 && errno != EINTR) refuse_system_call("write");
    if (written > 0) contents.remove_prefix(static_cast<std::size_t>(written));
  }
  if (lseek(file.get(), 0, SEEK_SET) != 0) refuse_system_call("lseek");
  return file;
}

std::string everything_in(const FileDescriptor& file) {
  std::string contents;
  char part[4096];
  for (;;) {
    const ssize_t got = pread(file.get(), part, sizeof part, static_cast<off_t>(contents.size()));
    if (got < 0 && errno != EINTR) refuse_system_call("read");
    if (got == 0) return contents;
    if (got > 0) contents.append(part, static_cast<std::size_t>(got));
  }
}

/// Starts dot between two files. Throws NotSupported where it is not installed.
pid_t start_dot(const FileDescriptor& input, const FileDescriptor& output) {
  const char* arguments[] = {"dot", "-Tsvg", nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output.get(), STDOUT_FILENO);
  pid_t process = 0;
  const int error = posix_spawnp(&process, "dot", &files, nullptr, const_cast<char**>(arguments), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error == 0) return process;
  throw NotSupported(
      "drawing a graph needs Graphviz, whose program dot can't be started: install the package graphviz, or take "
      "what to_dot() returns elsewhere");
}

/// How a process ended. Nothing where the program ignores SIGCHLD, or waits for all its children elsewhere: then nobody
/// can know.
std::optional<int> status_of(pid_t process) {
  int status = 0;
  pid_t ended = 0;
  do {
    ended = waitpid(process, &status, 0);
  } while (ended < 0 && errno == EINTR);
  return ended == process ? std::optional(status) : std::nullopt;
}

bool is_whole(std::string_view picture) {
  const std::size_t last = picture.find_last_not_of("\n");
  return last != picture.npos && picture.substr(0, last + 1).ends_with("</svg>");
}

std::string ending_in_words(int status) {
  if (WIFSIGNALED(status)) return text("was ended by signal ", WTERMSIG(status));
  return text("ended with status ", WEXITSTATUS(status));
}

}  // namespace

std::string draw_as_svg(const std::string& graph) {
  const FileDescriptor input = file_with(graph), output = file_with("");
  const std::optional<int> status = status_of(start_dot(input, output));
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == 127) {
    throw NotSupported(
        "drawing a graph needs Graphviz, whose program dot is not installed: install the package graphviz");
  }
  if (status.value_or(0) != 0)
    throw SystemError(text("Graphviz could not draw the graph: dot ", ending_in_words(*status)), EIO);
  std::string picture = everything_in(output);
  if (!is_whole(picture)) throw SystemError("Graphviz could not draw the graph: dot wrote no whole picture", EIO);
  return picture;
}

}  // namespace cuprum::core
