// `cuprum doctor`: what there is on this machine, what is wrong with it, and whether a program would run.
#include <iostream>

#include "command.hpp"
#include "diagnose.hpp"
#include "facts_json.hpp"
#include "gather.hpp"
#include "terminal.hpp"

namespace cuprum::cli {
namespace {

constexpr std::size_t name_column = 14;
constexpr std::size_t version_column = 19;
constexpr std::size_t line_width = 110;

class Report {
 public:
  Report(std::ostream& out, const Facts& facts, Style style, bool tells_all)
      : out_(out), facts_(facts), style_(style), tells_all_(tells_all) {}

  void print(const std::vector<Finding>& findings) {
    out_ << style_.bold("Cuprum " + facts_.version) << '\n';
    print_drivers();
    print_compiler();
    print_libraries();
    print_headers();
    print_caches();
    print_variables();
    print_findings(findings);
    print_tour();
  }

 private:
  void section(const char* title) { out_ << '\n' << style_.bold(title) << '\n'; }

  void row(const std::string& name, const std::string& version, const std::string& rest) {
    out_ << "  " << padded(name, name_column) << padded(version, version_column) << rest << '\n';
  }

  void continued(const std::string& text) {
    const std::size_t indent = 2 + name_column + version_column;
    out_ << std::string(indent, ' ') << style_.faint(text) << '\n';
  }

  void failed(const std::string& name, const std::string& problem) {
    out_ << "  " << padded(name, name_column)
         << style_.doubtful(
                wrapped(tells_all_ ? problem : problem.substr(0, problem.find('\n')), 2 + name_column, line_width))
         << '\n';
  }

  void print_drivers() {
    section("Drivers");
    const DriverFacts* in_use = driver_in_use(facts_);
    for (const DriverFacts* driver : {&facts_.nvidia, &facts_.softgpu}) {
      if (!driver->problem.empty()) {
        failed(driver->name, driver->problem);
        continue;
      }
      row(driver->name, "CUDA " + cuda_version(driver->version),
          driver->path + (driver == in_use ? style_.good("  in use") : ""));
      for (const DeviceFacts& device : driver->devices) {
        continued("device " + std::to_string(device.id) + ": " + device.name + ", sm_" + device.architecture + ", " +
                  bytes(device.memory));
      }
    }
    if (!facts_.kernel_module.empty()) row("kernel module", facts_.kernel_module, "");
  }

  void print_library(const LibraryFacts& library) {
    if (!library.problem.empty()) {
      failed(library.name, library.problem);
    } else {
      row(library.name, library.version, library.path + "  " + style_.faint(library.how));
    }
    for (const Place& other : library.shadowed) continued("behind it: " + other.path + "  " + other.how);
  }

  void print_compiler() {
    section("Compiler");
    print_library(facts_.nvrtc.library);
    if (!facts_.nvrtc.builtins.empty()) continued("built-ins: " + facts_.nvrtc.builtins);
    for (const std::string& folder : facts_.nvrtc.header_folders) continued("headers: " + folder);
    if (!facts_.libdevice.empty()) row("libdevice", "", facts_.libdevice);
  }

  void print_libraries() {
    section("Libraries");
    std::string missing;
    for (const LibraryFacts& library : facts_.libraries) {
      if (library.path.empty() && library.problem.empty()) {
        missing += (missing.empty() ? "" : ", ") + library.name;
      } else {
        print_library(library);
      }
    }
    if (!missing.empty()) {
      out_ << "  " << padded("not found", name_column) << style_.faint(wrapped(missing, 2 + name_column, line_width))
           << '\n';
    }
  }

  void print_headers() {
    section("Header sets");
    for (const HeaderFacts& set : facts_.headers) {
      row("", set.cuda_version ? "CUDA " + cuda_version(set.cuda_version) : "?",
          set.path + "  " + style_.faint(set.how));
    }
    if (facts_.headers.empty()) out_ << "  none\n";
  }

  void print_caches() {
    section("Caches");
    for (const CacheFacts& cache : facts_.caches) {
      out_ << "  " << cache.name << ": ";
      if (cache.path.empty()) {
        out_ << "not kept\n";
        continue;
      }
      out_ << cache.path << ", " << bytes(cache.bytes) << " in " << cache.files << " files"
           << (cache.limit ? ", at most " + bytes(cache.limit) : "") << '\n';
    }
  }

  void print_variables() {
    if (facts_.variables.empty()) return;
    section("Environment");
    for (const auto& [name, value] : facts_.variables) out_ << "  " << name << '=' << value << '\n';
  }

  void print_findings(const std::vector<Finding>& findings) {
    if (findings.empty()) return;
    section("Findings");
    for (const Finding& finding : findings) {
      const std::string text = finding.severity == Severity::error     ? style_.bad("error")
                               : finding.severity == Severity::warning ? style_.doubtful("warning")
                                                                       : style_.faint("note");
      out_ << "  " << text << ": " << wrapped(finding.what, 4, line_width) << '\n'
           << "    " << style_.bold("do:") << ' ' << wrapped(finding.advice, 8, line_width) << '\n';
    }
  }

  void print_tour() {
    const TourFacts& tour = facts_.tour;
    out_ << '\n';
    if (tour.problem.empty()) {
      char seconds[32];
      std::snprintf(seconds, sizeof seconds, "%.2f s", tour.seconds);
      out_ << style_.good("The tour runs") << ": a kernel was compiled and ran on " << tour.driver << ", "
           << tour.device << " (" << seconds << ")\n";
    } else {
      out_ << style_.bad("The tour does not run") << ": " << wrapped(tour.problem, 2, line_width) << '\n';
    }
  }

  std::ostream& out_;
  const Facts& facts_;
  Style style_;
  bool tells_all_;
};

int run_doctor(const Arguments& arguments) {
  const Facts facts = gather_facts();
  const std::vector<Finding> findings = diagnose(facts);
  if (arguments.has("--json")) {
    std::cout << report_json(facts, findings) << '\n';
  } else {
    Report(std::cout, facts, Style::of_stdout(), arguments.has("--verbose")).print(findings);
  }
  return facts.tour.problem.empty() ? 0 : 1;
}

}  // namespace

const Verb doctor_verb = {
    .name = "doctor",
    .operands = "",
    .summary = "look for what CUDA programs need, and say what is wrong",
    .description =
        {"Looks for drivers, devices, softgpu, NVIDIA's libraries and headers as libcuprum does, and tells for each "
         "which one is taken, how it was found and what is behind it; then what doesn't fit together, and what to do "
         "about it. In the end it compiles and runs a kernel, as the tour does.",
         "Each library is tried in a process of its own: one that crashes is reported as such."},
    .options = {{"--json", "", "print everything as one JSON object, for programs"},
                {"--verbose", "", "print what was searched, too, where something was not found"}},
    .exit_codes = {{"0", "the tour would run: there is a driver and a compiler, and they work together"},
                   {"1", "it would not; the findings say why"},
                   {"2", "the command line made no sense"}},
    .examples = {"cuprum doctor", "CUPRUM_DRIVER=softgpu cuprum doctor --json"},
    .usage_exit_code = 2,
    .run = run_doctor,
};

}  // namespace cuprum::cli
