// System calls of the test program, and so of the library: they can be made to fail.
#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <cuprum/error.hpp>

#include "api/faults.hpp"

namespace cuprum::tests {
namespace {

template <typename Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

bool fails(const char* name) {
  const std::optional<int> code = fault_at(FaultSort::system, name);
  if (code) errno = *code;
  return code.has_value();
}

/// An Error that has the system's words.
void expect_system_error(const Fault& fault) {
  try {
    throw;
  } catch (const Error& error) {
    if (!fault.and_all_after) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(std::strerror(fault.code))) << "after " << fault.call;
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << fault.call << " failed, and what came out is no cuprum::Error: " << error.what();
  }
}

}  // namespace

int fail_each_system_call(const std::function<void()>& scenario, const std::vector<MayBeSwallowed>& may_be_swallowed) {
  scenario();  // what is looked up once
  Faults faults(FaultSort::system);
  for (const int code : {EIO, ENOMEM, EMFILE, EACCES}) {
    faults.fail_each(code, true, scenario, expect_system_error, may_be_swallowed);
    faults.fail_each(code, false, scenario, expect_system_error, may_be_swallowed);
  }
  return faults.fail_each(ENOSPC, false, scenario, expect_system_error, may_be_swallowed).thrown;
}

}  // namespace cuprum::tests

// NOLINTBEGIN(readability-*,bugprone-*): the C library's own names and declarations
#define CUPRUM_FAILING(result, name, parameters, arguments, failure, specifier)            \
  extern "C" __attribute__((visibility("default"))) result name parameters specifier {     \
    static result(*const real) parameters = cuprum::tests::next<result parameters>(#name); \
    return cuprum::tests::fails(#name) ? failure : real arguments;                         \
  }

CUPRUM_FAILING(ssize_t, read, (int file, void* to, size_t size), (file, to, size), -1, )
CUPRUM_FAILING(ssize_t, write, (int file, const void* from, size_t size), (file, from, size), -1, )
CUPRUM_FAILING(ssize_t, sendmsg, (int socket, const msghdr* message, int flags), (socket, message, flags), -1, )
CUPRUM_FAILING(ssize_t, recvmsg, (int socket, msghdr* message, int flags), (socket, message, flags), -1, )
CUPRUM_FAILING(ssize_t, getrandom, (void* to, size_t size, unsigned flags), (to, size, flags), -1, )
CUPRUM_FAILING(int, poll, (pollfd * files, nfds_t count, int timeout), (files, count, timeout), -1, )
CUPRUM_FAILING(int, accept4, (int socket, sockaddr* address, socklen_t* size, int flags),
               (socket, address, size, flags), -1, )
CUPRUM_FAILING(int, connect, (int socket, const sockaddr* address, socklen_t size), (socket, address, size), -1, )
CUPRUM_FAILING(int, mkostemps, (char* pattern, int ending, int flags), (pattern, ending, flags), -1, )
CUPRUM_FAILING(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, noexcept)
CUPRUM_FAILING(int, socketpair, (int domain, int type, int protocol, int ends[2]), (domain, type, protocol, ends), -1,
               noexcept)
CUPRUM_FAILING(int, bind, (int socket, const sockaddr* address, socklen_t size), (socket, address, size), -1, noexcept)
CUPRUM_FAILING(int, listen, (int socket, int backlog), (socket, backlog), -1, noexcept)
CUPRUM_FAILING(int, getsockopt, (int socket, int level, int name, void* value, socklen_t* size),
               (socket, level, name, value, size), -1, noexcept)
CUPRUM_FAILING(int, setsockopt, (int socket, int level, int name, const void* value, socklen_t size),
               (socket, level, name, value, size), -1, noexcept)
CUPRUM_FAILING(int, getpeername, (int socket, sockaddr* address, socklen_t* size), (socket, address, size), -1,
               noexcept)
CUPRUM_FAILING(int, stat, (const char* path, struct stat* facts), (path, facts), -1, noexcept)
CUPRUM_FAILING(int, lstat, (const char* path, struct stat* facts), (path, facts), -1, noexcept)
CUPRUM_FAILING(int, fstat, (int file, struct stat* facts), (file, facts), -1, noexcept)
CUPRUM_FAILING(int, fchmod, (int file, mode_t mode), (file, mode), -1, noexcept)
CUPRUM_FAILING(int, mkdir, (const char* path, mode_t mode), (path, mode), -1, noexcept)
CUPRUM_FAILING(int, rename, (const char* from, const char* to), (from, to), -1, noexcept)
CUPRUM_FAILING(int, renameat2, (int from_folder, const char* from, int to_folder, const char* to, unsigned flags),
               (from_folder, from, to_folder, to, flags), -1, noexcept)
CUPRUM_FAILING(char*, mkdtemp, (char* pattern), (pattern), nullptr, noexcept)

// The third argument is there when a file may be made, and for all commands that the library gives.
extern "C" __attribute__((visibility("default"))) int open(const char* path, int flags, ...) {
  static int (*const real)(const char*, int, ...) = cuprum::tests::next<int(const char*, int, ...)>("open");
  std::va_list more;
  va_start(more, flags);
  const unsigned mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, unsigned) : 0;
  va_end(more);
  return cuprum::tests::fails("open") ? -1 : real(path, flags, mode);
}

extern "C" __attribute__((visibility("default"))) int fcntl(int file, int command, ...) {
  static int (*const real)(int, int, ...) = cuprum::tests::next<int(int, int, ...)>("fcntl");
  std::va_list more;
  va_start(more, command);
  void* const argument = va_arg(more, void*);
  va_end(more);
  return cuprum::tests::fails("fcntl") ? -1 : real(file, command, argument);
}
// NOLINTEND(readability-*,bugprone-*)
