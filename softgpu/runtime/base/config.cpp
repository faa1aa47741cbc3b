#include "softgpu/runtime/base/config.hpp"

#include <array>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <stdexcept>

#include "softgpu/jit/passes.hpp"

namespace softgpu::runtime {
namespace {

[[noreturn]] void refuse(const char* name, std::string_view value, std::string_view expected) {
  throw std::invalid_argument(std::string(name) + " is '" + std::string(value) + "'; it can be " +
                              std::string(expected));
}

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

void set_count(const char* name, const std::string& text, unsigned low, unsigned high, unsigned& out) {
  const auto number = parse_number(text);
  if (!number || *number < low || *number > high)
    refuse(name, text, "a number from " + std::to_string(low) + " to " + std::to_string(high));
  out = static_cast<unsigned>(*number);
}

std::size_t parse_bytes(const char* name, const std::string& text) {
  constexpr std::string_view kSuffixes = "KMGT";
  std::string_view digits = text;
  unsigned shift = 0;
  if (!digits.empty()) {
    const char last = static_cast<char>(digits.back() & ~0x20);  // upper case
    if (const auto place = kSuffixes.find(last); place != std::string_view::npos) {
      shift = 10 * (static_cast<unsigned>(place) + 1);
      digits.remove_suffix(1);
    }
  }
  const auto number = parse_number(digits);
  if (!number || *number > (~std::uint64_t{0} >> shift)) refuse(name, text, "a number of bytes such as 512M or 8G");
  return *number << shift;
}

std::vector<std::size_t> parse_list_of_bytes(const char* name, const std::string& text) {
  std::vector<std::size_t> sizes;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    sizes.push_back(parse_bytes(name, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return sizes;
}

struct Version {
  std::uint64_t major, minor;
};

// As in "9.0".
std::optional<Version> parse_version(std::string_view text) {
  const auto dot = text.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const auto major = parse_number(text.substr(0, dot)), minor = parse_number(text.substr(dot + 1));
  return major && minor ? std::optional(Version{*major, *minor}) : std::nullopt;
}

void set_compute_capability(const char* name, const std::string& text, unsigned& out) {
  const auto version = parse_version(text);
  if (!version || version->major < 5 || version->major > 12 || version->minor > 9)
    refuse(name, text, "a version such as 9.0, from 5.0 to 12.9");
  out = static_cast<unsigned>(version->major * 10 + version->minor);
}

void set_cuda_version(const char* name, const std::string& text, int& out) {
  constexpr int kOldest = 12000;
  const auto parsed = parse_version(text);
  const bool is_plausible = parsed && parsed->major < 100 && parsed->minor < 100;
  const auto version = is_plausible ? parsed->major * 1000 + parsed->minor * 10 : 0;
  if (version < kOldest || version > CUDA_VERSION)
    refuse(name, text,
           "a release of CUDA from 12.0 to " + std::to_string(CUDA_VERSION / 1000) + "." +
               std::to_string(CUDA_VERSION % 1000 / 10));
  out = static_cast<int>(version);
}

void set_trace(const char* name, const std::string& text, Trace& out) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view word = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    if (word == "unsupported")
      out.unsupported = true;
    else if (word == "calls")
      out.calls = true;
    else if (word == "errors")
      out.errors = true;
    else
      refuse(name, text, "a list of unsupported, calls and errors");
  }
}

void set_width(const char* name, const std::string& text, unsigned& out) {
  const auto number = text == "auto" ? 0 : parse_number(text);
  if (!number || (*number != 0 && *number != 1 && *number != 8 && *number != 16 && *number != 32) || text == "0")
    refuse(name, text, "1, 8, 16, 32 or auto");
  out = static_cast<unsigned>(*number);
}

void set_passes(const char* name, const std::string& text, std::vector<std::string>& out) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    if (!jit::is_pass(out.back())) refuse(name, text, "a list of the compiler's passes: " + jit::names_of_passes());
    begin = end + 1;
  }
}

void set_pass(const char* name, const std::string& text, std::string& out) {
  if (!jit::is_pass(text)) refuse(name, text, "one of the compiler's passes: " + jit::names_of_passes());
  out = text;
}

void set_switch(const char* name, const std::string& text, bool& out) {
  if (text != "0" && text != "1") refuse(name, text, "0 or 1");
  out = text == "1";
}

struct Setting {
  const char* name;
  void (*apply)(const char* name, const std::string& text, Config&);
};

constexpr std::array kSettings = {
    Setting{"SOFTGPU_DEVICES", [](auto name, auto& text, auto& c) { set_count(name, text, 1, 64, c.devices); }},
    Setting{"SOFTGPU_COMPUTE_CAPABILITY",
            [](auto name, auto& text, auto& c) { set_compute_capability(name, text, c.compute_capability); }},
    Setting{"SOFTGPU_MEMORY", [](auto name, auto& text, auto& c) { c.memory = parse_list_of_bytes(name, text); }},
    Setting{"SOFTGPU_MULTIPROCESSORS",
            [](auto name, auto& text, auto& c) { set_count(name, text, 1, 4096, c.multiprocessors); }},
    Setting{"SOFTGPU_CUDA_VERSION",
            [](auto name, auto& text, auto& c) { set_cuda_version(name, text, c.cuda_version); }},
    Setting{"SOFTGPU_MEMORY_POOLS", [](auto name, auto& text, auto& c) { set_switch(name, text, c.memory_pools); }},
    Setting{"SOFTGPU_WORKERS", [](auto name, auto& text, auto& c) { set_count(name, text, 1, 1024, c.workers); }},
    Setting{"SOFTGPU_CACHE_DIR", [](auto, auto& text, auto& c) { c.cache_dir = text; }},
    Setting{"SOFTGPU_CACHE_SIZE", [](auto name, auto& text, auto& c) { c.cache_size = parse_bytes(name, text); }},
    Setting{"SOFTGPU_STRICT", [](auto name, auto& text, auto& c) { set_switch(name, text, c.strict); }},
    Setting{"SOFTGPU_RUNTIME_DIR", [](auto, auto& text, auto& c) { c.runtime_dir = text; }},
    Setting{"SOFTGPU_WIDTH", [](auto name, auto& text, auto& c) { set_width(name, text, c.compiler.width); }},
    Setting{"SOFTGPU_DUMP", [](auto name, auto& text, auto& c) { set_passes(name, text, c.compiler.dump); }},
    Setting{"SOFTGPU_TIME_PASSES",
            [](auto name, auto& text, auto& c) { set_switch(name, text, c.compiler.time_passes); }},
    Setting{"SOFTGPU_FAILING_PASS",
            [](auto name, auto& text, auto& c) { set_pass(name, text, c.compiler.failing_pass); }},
    Setting{"SOFTGPU_TRACE", [](auto name, auto& text, auto& c) { set_trace(name, text, c.trace); }},
};

bool is_setting(std::string_view name) {
  for (const Setting& setting : kSettings)
    if (name == setting.name) return true;
  return false;
}

std::string trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const auto first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(kBlank) - first + 1));
}

// NAME=value lines; blank lines and those that start with # are skipped.
std::map<std::string, std::string> read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("SOFTGPU_CONFIG names '" + path + "', which can't be read");
  std::map<std::string, std::string> values;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number) {
    const std::string text = trimmed(line);
    if (text.empty() || text.front() == '#') continue;
    const auto equals = text.find('=');
    const std::string name = trimmed(std::string_view(text).substr(0, equals));
    if (equals == std::string::npos || !is_setting(name))
      throw std::invalid_argument(path + ", line " + std::to_string(number) + ": '" + text +
                                  "' is not a setting; expected NAME=value with a name such as SOFTGPU_DEVICES");
    values[name] = trimmed(std::string_view(text).substr(equals + 1));
  }
  return values;
}

std::optional<std::string> from_environment(const char* name) {
  const char* value = secure_getenv(name);  // it decides which files are read and what code is run
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

Config read_config(const Lookup& lookup) {
  Config config;
  for (const Setting& setting : kSettings)
    if (const auto text = lookup(setting.name)) setting.apply(setting.name, *text, config);
  return config;
}

Config read_config() {
  std::map<std::string, std::string> file;
  if (const auto path = from_environment("SOFTGPU_CONFIG")) file = read_file(*path);
  return read_config([&](const char* name) {
    auto value = from_environment(name);
    if (!value)
      if (const auto it = file.find(name); it != file.end()) value = it->second;
    return value;
  });
}

}  // namespace softgpu::runtime
