#include "fuzz/ptx/runner/options.hpp"

#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <stdexcept>

#include "fuzz/ptx/runner/trial.hpp"

namespace ptx_fuzz {

const char* const kUsage = R"(usage: ptx_fuzz [options]

Runs random PTX programs on the driver that CUPRUM_DRIVER names (softgpu or nvidia) and compares what they leave in memory
with an interpreter. Ends with status 1 if one differs, fails, crashes or hangs, and prints it, reduced.

  --seeds A:B        the programs of seeds A to B-1 (--seeds A: that one); default 0:100
  --kept FILE        first those that the file lists: a seed in a line, and what it showed
  --fresh            seeds that nobody has tried, for as long as --seconds says
  --seconds S        stop after so long
  --width W,...      of softgpu's gangs: 1, 8, 16, 32, auto, some of them, or all; default: as SOFTGPU_WIDTH says
  --jobs J           processes at a time; default 1
  --limit S          most seconds for one program; default 60
  --features F,...   only programs with these: loops, gotos, memory, floats, atomics, barriers, pieces, warps, exits, calls,
                     recursion, signals; with -F, all but these
  --optimisation N   let the driver compile at level N, 0 to 4: a GPU that is right at 0 only shows a defect of ptxas
  --reduce N         how many failing programs to reduce; default 3
  --without N,N-M    the program without these statements, as a reduced one is reproduced
  --print            print the first seed's program instead of running it
  --statistics       say what the seeds' programs are made of instead of running them
)";

namespace {

std::uint64_t parse_number(const std::string& option, const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') throw std::invalid_argument(option + " needs a number, not '" + text + "'");
  return number;
}

void parse_seeds(Options& options, const std::string& text) {
  const auto colon = text.find(':');
  options.first_seed = parse_number("--seeds", text.substr(0, colon));
  options.last_seed =
      colon == std::string::npos ? options.first_seed + 1 : parse_number("--seeds", text.substr(colon + 1));
}

void parse_widths(Options& options, const std::string& text) {
  options.widths.clear();
  std::istringstream in(text == "all" ? "1,8,16,32,auto" : text);
  for (std::string width; std::getline(in, width, ',');) {
    if (width != "1" && width != "8" && width != "16" && width != "32" && width != "auto")
      throw std::invalid_argument("a width is 1, 8, 16, 32 or auto, not '" + width + "'");
    options.widths.push_back(width);
  }
}

void read_kept(Options& options, const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::invalid_argument("--kept names '" + path + "', which can't be read");
  for (std::string line; std::getline(file, line);)
    if (!line.empty() && line.front() != '#')
      options.kept.push_back(parse_number("--kept", line.substr(0, line.find(' '))));
}

void set_fresh(Options& options) {
  std::random_device device;
  options.fresh = true;
  options.first_seed = (std::uint64_t{device()} << 16 ^ device()) & 0xffffffffffffu;
  options.last_seed = std::numeric_limits<std::uint64_t>::max();
}

const std::map<std::string, void (*)(Options&)> kFlags = {
    {"--fresh", set_fresh},
    {"--print", [](Options& o) { o.print = true; }},
    {"--statistics", [](Options& o) { o.statistics = true; }},
    {"--worker", [](Options& o) { o.worker = true; }},
    {"--help", [](Options& o) { o.help = true; }},
};

const std::map<std::string, void (*)(Options&, const std::string&)> kValues = {
    {"--seeds", parse_seeds},
    {"--kept", read_kept},
    {"--width", parse_widths},
    {"--seconds",
     [](Options& o, const std::string& v) { o.seconds = static_cast<unsigned>(parse_number("--seconds", v)); }},
    {"--jobs", [](Options& o, const std::string& v) { o.jobs = static_cast<unsigned>(parse_number("--jobs", v)); }},
    {"--limit",
     [](Options& o, const std::string& v) { o.limit_seconds = static_cast<unsigned>(parse_number("--limit", v)); }},
    {"--reduce",
     [](Options& o, const std::string& v) { o.most_reduced = static_cast<unsigned>(parse_number("--reduce", v)); }},
    {"--optimisation",
     [](Options& o, const std::string& v) {
       o.optimisation = static_cast<unsigned>(parse_number("--optimisation", v));
     }},
    {"--without", [](Options& o, const std::string& v) { o.without = parse_numbers(v); }},
    {"--features", [](Options& o, const std::string& v) { o.features = parse_features(o.feature_list = v); }},
};

}  // namespace

Options parse_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string name = arguments[i];
    if (const auto flag = kFlags.find(name); flag != kFlags.end()) {
      flag->second(options);
    } else if (const auto value = kValues.find(name); value != kValues.end()) {
      if (i + 1 == count) throw std::invalid_argument(name + " needs a value");
      value->second(options, arguments[++i]);
    } else {
      throw std::invalid_argument("there is no option '" + name + "'; --help lists them");
    }
  }
  if (options.fresh && options.seconds == std::numeric_limits<unsigned>::max())
    throw std::invalid_argument("--fresh needs --seconds");
  if (options.jobs == 0) throw std::invalid_argument("--jobs needs at least 1");
  return options;
}

}  // namespace ptx_fuzz
