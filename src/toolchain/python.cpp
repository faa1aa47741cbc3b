#include "toolchain/python.hpp"

#include <algorithm>
#include <sstream>

#include "support/text.hpp"

namespace cuprum::toolchain {
namespace {

namespace fs = std::filesystem;

class Collector {
 public:
  void add(const fs::path& folder, const std::string& how) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) return;
    const auto same = [&](const SitePackages& known) { return fs::equivalent(known.folder, folder, error); };
    if (std::none_of(result.begin(), result.end(), same)) result.push_back({folder, how});
  }

  /// The packages of a Python installed below `prefix`, the newest version's first.
  void add_prefix(const fs::path& prefix, const std::string& how) {
    std::error_code error;
    std::vector<fs::path> versions;
    for (auto entry = fs::directory_iterator(prefix / "lib", error); !error && entry != fs::directory_iterator();
         entry.increment(error)) {
      if (entry->path().filename().string().starts_with("python3")) versions.push_back(entry->path());
    }
    std::sort(versions.begin(), versions.end(), newer);
    for (const fs::path& version : versions) {
      for (const char* folder : {"site-packages", "dist-packages"}) add(version / folder, how);
    }
  }

  std::vector<SitePackages> result;

 private:
  // python3.11 is newer than python3.9, and both are newer than Debian's plain python3.
  static bool newer(const fs::path& a, const fs::path& b) {
    const std::string x = a.filename().string();
    const std::string y = b.filename().string();
    return x.size() != y.size() ? x.size() > y.size() : x > y;
  }
};

// The path by which this process was started: a virtual environment's python is a link to another one, and it is the
// link's place that counts.
fs::path started_as(const Surroundings& surroundings) {
  const fs::path name = surroundings.invoked_as;
  if (name.has_parent_path()) return name;
  std::istringstream folders(surroundings.variable("PATH").value_or(""));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    if (fs::exists(fs::path(folder) / name, error)) return fs::path(folder) / name;
  }
  return surroundings.executable;
}

void add_running_python(Collector& out, const Surroundings& surroundings) {
  if (!surroundings.executable.filename().string().starts_with("python")) return;
  std::error_code error;
  const fs::path prefix = started_as(surroundings).parent_path().parent_path();
  if (fs::exists(prefix / "pyvenv.cfg", error)) out.add_prefix(prefix, "of the running Python");
  if (auto home = surroundings.variable("HOME")) {
    out.add_prefix(fs::path(*home) / ".local", "of the running Python's user");
  }
  out.add_prefix(surroundings.executable.parent_path().parent_path(), "of the running Python");
}

}  // namespace

std::vector<SitePackages> site_packages(const Surroundings& surroundings) {
  Collector out;
  for (const fs::path& folder : surroundings.site_packages) out.add(folder, "named by the program");
  add_running_python(out, surroundings);
  if (auto prefix = surroundings.variable("VIRTUAL_ENV")) out.add_prefix(*prefix, "of VIRTUAL_ENV");
  if (auto prefix = surroundings.variable("CONDA_PREFIX")) out.add_prefix(*prefix, "of CONDA_PREFIX");
  return std::move(out.result);
}

}  // namespace cuprum::toolchain
