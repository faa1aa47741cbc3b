// `cuprum top`: the devices and who uses them, again and again, as people know it from top, nvidia-smi and nvitop.
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <nlohmann/json.hpp>

#include "command.hpp"
#include "watch.hpp"

namespace cuprum::cli {
namespace {

using Json = nlohmann::ordered_json;

volatile std::sig_atomic_t interrupted = 0;

volatile std::sig_atomic_t stopped = 0;

std::size_t terminal_width() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : help_width;
}

/// Of a terminal that does not tell, as many as there may be.
std::size_t terminal_height() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 ? size.ws_row : 10'000;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  sigaction(signal, &action, nullptr);
}

/// The terminal while a picture is drawn again and again: a screen of its own, no cursor, keys as they are pressed. As
/// it was when it ends, also by a signal, and while the program is stopped.
class Screen {
 public:
  Screen() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal, [](int) { interrupted = 1; });
    handle(SIGTSTP, [](int) { stopped = 1; });
    enter();
  }
  ~Screen() { leave(); }
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// As much of it as there is room for. Each row is cleared before it is written: behind a line that ends at the edge,
  /// that would take its last character.
  void show(const std::string& picture) const {
    const std::string text = fitted(picture, terminal_height());
    const std::size_t last_line = text.rfind('\n') + 1;
    std::string drawn = "\033[H";
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (i == last_line)
        drawn += "\033[J";
      else if (i == 0 || text[i - 1] == '\n')
        drawn += "\033[K";
      drawn += text[i];
    }
    std::cout << drawn << std::flush;
  }

  /// Waits. False when the user wants to leave.
  bool wait(int milliseconds) {
    pollfd keys{STDIN_FILENO, POLLIN, 0};
    const int ready = poll(&keys, reads_keys_ ? 1 : 0, milliseconds);
    if (interrupted) return false;
    if (stopped) {
      stop();
      return true;
    }
    char key = 0;
    return !(ready > 0 && (read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q' || key == '\033'));
  }

 private:
  // Lines that are too long end at the edge, so that as many rows are used as there are lines.
  void enter() {
    reads_keys_ = tcgetattr(STDIN_FILENO, &before_) == 0;
    if (reads_keys_) {
      termios keys = before_;
      keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
      tcsetattr(STDIN_FILENO, TCSANOW, &keys);
    }
    std::cout << "\033[?1049h\033[?25l\033[?7l" << std::flush;
  }
  void leave() const {
    std::cout << "\033[?7h\033[?25h\033[?1049l" << std::flush;
    if (reads_keys_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
  void stop() {
    leave();
    stopped = 0;
    raise(SIGSTOP);
    enter();
  }

  termios before_{};
  bool reads_keys_ = false;
};

template <typename Number>
Json number_or_null(const std::optional<Number>& number) {
  return number ? Json(*number) : Json(nullptr);
}

Json as_json(const Watched& watched) {
  Json json = {{"driver", watched.driver}, {"devices", Json::array()}, {"processes", Json::array()}};
  for (const WatchedDevice& device : watched.devices)
    json["devices"].push_back({{"index", device.index},
                               {"name", device.name},
                               {"uuid", device.uuid},
                               {"memory_used_bytes", device.memory_used},
                               {"memory_total_bytes", device.memory_total},
                               {"gpu_utilization_percent", number_or_null(device.gpu_percent)},
                               {"memory_utilization_percent", number_or_null(device.memory_percent)},
                               {"temperature_celsius", number_or_null(device.celsius)},
                               {"power_milliwatts", number_or_null(device.milliwatts)},
                               {"sm_clock_megahertz", number_or_null(device.clock_megahertz)},
                               {"fan_percent", number_or_null(device.fan_percent)}});
  for (const WatchedProcess& process : watched.processes)
    json["processes"].push_back({{"device", process.device},
                                 {"pid", process.pid},
                                 {"user", process.user},
                                 {"name", process.name},
                                 {"memory_bytes", number_or_null(process.memory)}});
  return json;
}

int run_top(const Arguments& arguments) {
  constexpr int least_interval = 100;
  const int interval = arguments.number("--interval", 1000, least_interval);
  if (arguments.has("--json")) {
    std::cout << as_json(watch()).dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
    return 0;
  }
  const Style style = Style::of_stdout();
  if (arguments.has("--once") || !isatty(STDOUT_FILENO)) {
    std::cout << picture_of(watch(), style, isatty(STDOUT_FILENO) ? terminal_width() : help_width);
    return 0;
  }
  const std::string first = picture_of(watch(), style, terminal_width());  // may throw, while errors can still be seen
  Screen screen;
  screen.show(first);
  while (screen.wait(interval)) screen.show(picture_of(watch(), style, terminal_width()));
  return 0;
}

}  // namespace

const Verb top_verb = {
    .name = "top",
    .operands = "",
    .summary = "watch the devices and the processes that use them",
    .description =
        {"Shows each device with how busy it is, its memory, temperature, power and clock as far as it tells "
         "them, and the processes that use it, once a second until q is pressed. NVML is asked: NVIDIA's, or "
         "softgpu's own where softgpu is the driver (CUPRUM_DRIVER chooses), which sees the processes of "
         "this user. Where the output is no terminal, it is shown once."},
    .options = {{"--once", "", "show it once, for scripts"},
                {"--interval", "N", "milliseconds between two looks, 100 at least; 1000 unless given"},
                {"--json", "", "print it once as a JSON object, for programs"}},
    .exit_codes = {{"0", "it was shown"}, {"1", "there is no NVML to ask"}, {"2", "the command line made no sense"}},
    .examples = {"cuprum top", "cuprum top --once"},
    .usage_exit_code = 2,
    .run = run_top,
};

}  // namespace cuprum::cli
