#include "driver/error_log.hpp"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {
namespace {

constexpr std::size_t longest_log = 25600;  // as <cuda.h> has it

/// "[22:21:32.099][25642][CUDA][E] message": the parts in brackets, and the rest. None for a line that goes on with the
/// message of the line before.
struct Line {
  std::vector<std::string_view> tags;
  std::string_view message;

  std::string_view thread() const { return tags[1]; }
  std::string_view call() const { return tags.size() > 4 ? tags[4] : std::string_view(); }
};

std::optional<Line> parse(std::string_view text) {
  Line line;
  while (text.starts_with('[') && text.find(']') != std::string_view::npos) {
    line.tags.push_back(text.substr(1, text.find(']') - 1));
    text.remove_prefix(text.find(']') + 1);
  }
  if (line.tags.size() < 4) return std::nullopt;
  line.message = text.starts_with(' ') ? text.substr(1) : text;
  return line;
}

/// cuMemcpyHtoD_v2_ptds -> cuMemcpyHtoD
std::string_view without_version(std::string_view name) { return name.substr(0, name.find('_')); }

/// "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2": which call, if it is such a line.
struct Return {
  int code;
  std::string_view call;
};

std::optional<Return> parse_return(std::string_view message) {
  constexpr std::string_view begin = "Returning ", middle = " from ";
  const std::size_t from = message.rfind(middle);
  if (!message.starts_with(begin) || from == std::string_view::npos) return std::nullopt;
  const std::string number(message.substr(begin.size(), message.find(' ', begin.size()) - begin.size()));
  return Return{std::atoi(number.c_str()), message.substr(from + middle.size())};
}

/// Collects the lines of a thread until it is known whose they are.
class ReasonReader {
 public:
  ReasonReader(const std::vector<std::string>& threads, CUresult code, std::string_view call)
      : threads_(threads), code_(code), call_(without_version(call)) {}

  void read(std::string_view text) {
    if (const std::optional<Line> line = parse(text)) {
      is_ours_ = is_of_thread(*line);
      if (is_ours_) take(*line);
    } else if (is_ours_ && !collected_.empty()) {
      collected_ += '\n';
      collected_ += text;
    }
  }

  std::string result() {
    if (without_version(tagged_) == call_) reason_ = collected_;
    return reason_;
  }

 private:
  bool is_of_thread(const Line& line) const {
    for (const std::string& thread : threads_)
      if (line.thread() == thread) return true;
    return false;
  }

  void take(const Line& line) {
    if (const std::optional<Return> end = parse_return(line.message)) {
      const bool matches = end->code == static_cast<int>(code_) && without_version(end->call) == call_;
      reason_ = matches ? collected_ : std::string();
      collected_.clear();
      tagged_ = {};
      return;
    }
    if (line.call() != tagged_) collected_.clear();
    tagged_ = line.call();
    if (!collected_.empty()) collected_ += '\n';
    collected_ += line.message;
  }

  const std::vector<std::string>& threads_;
  const CUresult code_;
  const std::string_view call_;
  bool is_ours_ = false;
  std::string collected_;    // since the last line that ended a call
  std::string_view tagged_;  // the call in front of them
  std::string reason_;       // of the last call that failed
};

}  // namespace

std::string find_reason(std::string_view log, const std::vector<std::string>& threads, CUresult code,
                        std::string_view call) {
  ReasonReader reader(threads, code, call);
  while (!log.empty()) {
    const std::size_t end = std::min(log.find('\n'), log.size());
    reader.read(log.substr(0, end));
    log.remove_prefix(std::min(end + 1, log.size()));
  }
  return reader.result();
}

std::string logged_reason(const Api& api, CUresult code, const char* call) {
  if (!api.cuLogsDumpToMemory.function) return {};
  thread_local CUlogIterator seen = 0;  // what an earlier failure left is no reason for this one
  std::string log(longest_log, '\0');
  std::size_t size = log.size();
  if (api.cuLogsDumpToMemory(&seen, log.data(), &size, 0) != CUDA_SUCCESS) return {};
  log.resize(size);
  return find_reason(log, {support::text(gettid()), support::text(pthread_self())}, code, call);
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
