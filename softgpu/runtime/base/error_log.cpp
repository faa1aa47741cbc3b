#include "softgpu/runtime/base/error_log.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>

namespace softgpu::runtime {
namespace {

constexpr std::size_t kLongestMessage = ErrorLog::kKeptBytes / 4;
constexpr std::string_view kLost = "[CUDA][W] older messages are lost\n";

std::FILE* open_log(const char* file) {
  if (file == nullptr || *file == '\0') return nullptr;
  if (std::strcmp(file, "stdout") == 0) return stdout;
  if (std::strcmp(file, "stderr") == 0) return stderr;
  return std::fopen(file, "ae");
}

// A message is a line, or some of them; what is too long keeps its beginning, which says what it is about.
std::string_view without_line_ends(std::string_view message) {
  message = message.substr(0, kLongestMessage);
  while (message.ends_with('\n')) message.remove_suffix(1);
  return message;
}

}  // namespace

// Its mutex is held while it runs, so that remove_callback() can wait for that; it is recursive for a callback that
// removes itself, or whose own calls fail.
struct ErrorLog::Callback {
  Callback(CUlogsCallback called, void* with) : function(called), data(with) {}

  const CUlogsCallback function;
  void* const data;
  std::recursive_mutex mutex;
  bool removed = false;
};

ErrorLog& ErrorLog::get() {
  static ErrorLog& log = *new ErrorLog(secure_getenv("CUDA_LOG_FILE"));
  return log;
}

ErrorLog::ErrorLog(const char* file) : file_(open_log(file)) {}

ErrorLog::~ErrorLog() {
  if (file_ != nullptr && file_ != stdout && file_ != stderr) std::fclose(file_);
}

std::string ErrorLog::Message::line() const {
  const auto since_epoch = std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count();
  const std::time_t seconds = static_cast<std::time_t>(since_epoch / 1000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char head[80];
  std::snprintf(head, sizeof head, "[%02d:%02d:%02d.%03d][%d][CUDA][%c] ", local.tm_hour, local.tm_min, local.tm_sec,
                static_cast<int>(since_epoch % 1000), thread, level == CU_LOG_LEVEL_ERROR ? 'E' : 'W');
  return head + text + "\n";
}

void ErrorLog::add(CUlogLevel level, std::string_view text) {
  const Message message{.when = std::chrono::system_clock::now(),
                        .thread = static_cast<int>(gettid()),
                        .level = level,
                        .text = std::string(without_line_ends(text))};
  keep(message);
  tell(message);
}

void ErrorLog::keep(const Message& message) {
  const std::scoped_lock lock(mutex_);
  if (file_ != nullptr) {
    std::fputs(message.line().c_str(), file_);
    std::fflush(file_);
  }
  messages_.push_back(message);
  kept_bytes_ += message.text.size();
  for (; kept_bytes_ > kKeptBytes; messages_.pop_front(), ++first_) kept_bytes_ -= messages_.front().text.size();
}

void ErrorLog::tell(const Message& message) {
  std::vector<std::shared_ptr<Callback>> callbacks;
  {
    const std::scoped_lock lock(mutex_);
    callbacks = callbacks_;
  }
  for (const auto& callback : callbacks) {
    const std::scoped_lock lock(callback->mutex);
    if (callback->removed) continue;
    std::string copy = message.text;  // the callback takes it as its own
    callback->function(callback->data, message.level, copy.data(), copy.size());
  }
}

CUlogsCallbackHandle ErrorLog::add_callback(CUlogsCallback function, void* data) {
  auto callback = std::make_shared<Callback>(function, data);
  const std::scoped_lock lock(mutex_);
  return reinterpret_cast<CUlogsCallbackHandle>(callbacks_.emplace_back(std::move(callback)).get());
}

bool ErrorLog::remove_callback(CUlogsCallbackHandle handle) {
  std::shared_ptr<Callback> removed;
  {
    const std::scoped_lock lock(mutex_);
    const auto it = std::find_if(callbacks_.begin(), callbacks_.end(), [handle](const auto& callback) {
      return reinterpret_cast<CUlogsCallbackHandle>(callback.get()) == handle;
    });
    if (it == callbacks_.end()) return false;
    removed = std::move(*it);
    callbacks_.erase(it);
  }
  const std::scoped_lock lock(removed->mutex);
  removed->removed = true;
  return true;
}

CUlogIterator ErrorLog::end() const {
  const std::scoped_lock lock(mutex_);
  return first_ + static_cast<CUlogIterator>(messages_.size());
}

ErrorLog::Dump ErrorLog::dump(CUlogIterator from, std::size_t room) const {
  const std::scoped_lock lock(mutex_);
  Dump dump{.text = {}, .end = first_ + static_cast<CUlogIterator>(messages_.size())};
  const std::size_t known = from >= first_ ? std::min<std::size_t>(from - first_, messages_.size()) : 0;
  bool lost = from < first_;
  for (std::size_t i = messages_.size(); i > known; --i) {
    std::string line = messages_[i - 1].line();
    const std::size_t notice = lost || i - 1 > known ? kLost.size() : 0;
    if (dump.text.size() + line.size() + notice > room) {
      // Room for the notice was kept when the last line was taken, as that was not the first of them all.
      lost = true;
      dump.fits = !dump.text.empty();
      break;
    }
    dump.text.insert(0, line);
  }
  if (lost && dump.fits && !dump.text.empty()) dump.text.insert(0, kLost);
  return dump;
}

}  // namespace softgpu::runtime
