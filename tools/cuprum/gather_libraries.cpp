// NVRTC with what belongs to it, all other libraries of the pathfinder's catalog, header sets.
#include <dlfcn.h>

#include <cstdlib>
#include <cuprum/error.hpp>
#include <cuprum/nvjitlink.hpp>
#include <cuprum/nvml.hpp>
#include <cuprum/nvrtc.hpp>
#include <cuprum/nvvm.hpp>
#include <cuprum/pathfinder.hpp>
#include <deque>
#include <fstream>
#include <optional>
#include <sstream>

#include "facts_json.hpp"
#include "gather.hpp"
#include "probe.hpp"
#include "terminal.hpp"

namespace cuprum::cli {
namespace {

using pathfinder::Kind;
using pathfinder::Located;

std::string words(pathfinder::Via via) {
  std::ostringstream out;
  out << via;
  return out.str();
}

// The first of what was found is taken, unless the library says that it takes another.
LibraryFacts describe(const std::string& name, const std::vector<Located>& found, const std::string& taken) {
  LibraryFacts facts{.name = name, .path = taken};
  for (const Located& located : found) {
    const bool is_taken = taken.empty() ? &located == &found.front() : located.path == taken;
    if (is_taken) {
      facts.path = located.path;
      facts.how = located.how;
      facts.via = words(located.found_via);
    } else {
      facts.shadowed.push_back({located.path, located.how});
    }
  }
  return facts;
}

std::vector<int> supported_architectures() {
  int count = 0;
  nvrtc::call<&nvrtc::Api::nvrtcGetNumSupportedArchs>(&count);
  std::vector<int> architectures(static_cast<std::size_t>(count));
  nvrtc::call<&nvrtc::Api::nvrtcGetSupportedArchs>(architectures.data());
  return architectures;
}

// ---- What libraries say about their version ----

struct Version {
  std::string words;
  int cuda = 0;
};

// nvJitLink can say its version since 12.3.
Version nvjitlink_version() {
  const int version = nvjitlink::info().version;
  return version ? Version{cuda_version(version), version} : Version{"12.2 or older", 12020};
}

Version nvvm_version() {
  int major = 0, minor = 0, debug_major = 0, debug_minor = 0;
  nvvm::call<&nvvm::Api::nvvmIRVersion>(&major, &minor, &debug_major, &debug_minor);
  return {"NVVM IR " + std::to_string(major) + "." + std::to_string(minor), nvvm::info().version};
}

Version nvml_version() {
  char driver[80] = "";
  nvml::call<&nvml::Api::nvmlSystemGetDriverVersion>(driver, static_cast<unsigned>(sizeof driver));
  return {std::string("driver ") + driver, nvml::info().version};
}

// Those that Cuprum uses, opened as it opens them.
struct UsedLibrary {
  const char* name;
  const LibraryInfo& (*info)();
  Version (*version)();
};
constexpr UsedLibrary used_libraries[] = {
    {"nvJitLink", nvjitlink::info, nvjitlink_version},
    {"nvvm", nvvm::info, nvvm_version},
    {"nvml", nvml::info, nvml_version},
};

// The rest: a function that yields one number, and how the number is made of the version's parts.
struct VersionFunction {
  const char* library;
  const char* function;
  bool returns_it;  // as a size_t; otherwise it is put where an int* points
  int parts[3];     // what to divide by
};
constexpr VersionFunction version_functions[] = {
    {"cudart", "cudaRuntimeGetVersion", false, {1000, 10, 0}},
    {"cublasLt", "cublasLtGetVersion", true, {10000, 100, 1}},
    {"cufft", "cufftGetVersion", false, {1000, 100, 1}},
    {"curand", "curandGetVersion", false, {1000, 100, 1}},
    {"cusolver", "cusolverGetVersion", false, {1000, 100, 1}},
    {"nccl", "ncclGetVersion", false, {10000, 100, 1}},
    {"cudnn", "cudnnGetVersion", true, {10000, 100, 1}},
};

std::string dotted(std::size_t number, const int (&parts)[3]) {
  std::string text;
  for (int part : parts) {
    if (part == 0) break;
    text += (text.empty() ? "" : ".") + std::to_string(number / static_cast<std::size_t>(part));
    number %= static_cast<std::size_t>(part);
  }
  return text;
}

Version ask_version(const std::string& name, void* library) {
  for (const VersionFunction& row : version_functions) {
    if (name != row.library) continue;
    void* function = dlsym(library, row.function);
    if (!function) return {};
    std::size_t number = 0;
    if (row.returns_it) {
      number = reinterpret_cast<std::size_t (*)()>(function)();
    } else if (int value = 0; reinterpret_cast<int (*)(int*)>(function)(&value) == 0) {
      number = static_cast<std::size_t>(value);
    }
    return {dotted(number, row.parts), name == "cudart" ? static_cast<int>(number) : 0};
  }
  return {};
}

// libcufile.so.1.15.0 is 1.15.0, whatever the link is called by which it was found.
std::string version_in_name(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  const std::string name = real ? real : path;
  std::free(real);
  const std::size_t place = name.rfind(".so.");
  return place == std::string::npos ? "" : name.substr(place + 4);
}

LibraryFacts with_version(LibraryFacts facts, const Version& version) {
  facts.version = version.words;
  facts.cuda_version = version.cuda;
  return facts;
}

// In the process of a probe: opens the library as Cuprum would, and asks it.
LibraryFacts ask_library(const std::string& name, const std::vector<Located>& found) {
  for (const UsedLibrary& row : used_libraries) {
    if (name == row.name) return with_version(describe(name, found, row.info().path), row.version());
  }
  const pathfinder::LoadedLib library = pathfinder::load_dynamic_lib(name);
  LibraryFacts facts = with_version(describe(name, found, library.path), ask_version(name, library.handle));
  if (facts.version.empty()) facts.version = version_in_name(facts.path);
  return facts;
}

// One library's part of gather_libraries(), begun for all of them before the first is waited for.
class LibraryProbe {
 public:
  explicit LibraryProbe(const std::string& name)
      : name_(name), found_(pathfinder::locate_all(Kind::dynamic_lib, name)) {
    // The drivers have their own part; here it matters only which file others would get.
    if (!found_.empty() && name_ != "cuda") probe_.emplace([this] { return encode(ask_library(name_, found_)); });
  }

  LibraryFacts finish() {
    const ProbeResult result = probe_ ? probe_->finish() : ProbeResult();
    if (!result.text.empty()) return decode<LibraryFacts>(result.text);
    LibraryFacts facts = describe(name_, found_, {});
    facts.problem = result.problem;
    return facts;
  }

 private:
  std::string name_;
  std::vector<Located> found_;
  std::optional<Probe> probe_;
};

// ---- LD_LIBRARY_PATH ----

std::vector<LibraryFacts> found_without_linker_path() {
  Probe probe([] {
    unsetenv("LD_LIBRARY_PATH");
    std::vector<LibraryFacts> all;
    for (const std::string& name : pathfinder::supported(Kind::dynamic_lib)) {
      all.push_back(describe(name, pathfinder::locate_all(Kind::dynamic_lib, name), {}));
    }
    return encode(all);
  });
  const ProbeResult result = probe.finish();
  return result.problem.empty() ? decode<std::vector<LibraryFacts>>(result.text) : std::vector<LibraryFacts>();
}

void compare_with(const std::vector<LibraryFacts>& without, LibraryFacts& facts) {
  if (facts.via != "system") return;
  for (const LibraryFacts& other : without) {
    if (other.name == facts.name && !other.path.empty() && other.path != facts.path) {
      facts.without_linker_path = other.path;
    }
  }
}

int version_of_headers(const std::string& folder) {
  constexpr std::string_view definition = "#define CUDA_VERSION ";
  std::ifstream file(folder + "/cuda.h");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(definition)) return std::atoi(line.c_str() + definition.size());
  }
  return 0;
}

}  // namespace

CompilerFacts gather_nvrtc() {
  const std::vector<Located> found = pathfinder::locate_all(Kind::dynamic_lib, "nvrtc");
  Probe probe([&] {
    const nvrtc::Info& info = nvrtc::info();
    CompilerFacts facts{.library = describe("nvrtc", found, info.path),
                        .builtins = info.builtins,
                        .header_folders = info.header_folders,
                        .remarks = info.remarks};
    facts.library.cuda_version = info.version;
    facts.library.version = cuda_version(info.version);
    if (nvrtc::api().nvrtcGetSupportedArchs) facts.architectures = supported_architectures();
    return encode(facts);
  });
  const ProbeResult result = probe.finish();
  if (result.problem.empty()) return decode<CompilerFacts>(result.text);
  CompilerFacts facts{.library = describe("nvrtc", found, {})};
  facts.library.problem = result.problem;
  return facts;
}

std::vector<LibraryFacts> gather_libraries() {
  std::deque<LibraryProbe> probes;
  for (const std::string& name : pathfinder::supported(Kind::dynamic_lib)) {
    if (name != "nvrtc") probes.emplace_back(name);
  }
  std::vector<LibraryFacts> all;
  for (LibraryProbe& probe : probes) all.push_back(probe.finish());
  return all;
}

void note_linker_path(Facts& facts) {
  if (!facts.variables.contains("LD_LIBRARY_PATH")) return;
  const std::vector<LibraryFacts> without = found_without_linker_path();
  compare_with(without, facts.nvrtc.library);
  for (LibraryFacts& library : facts.libraries) compare_with(without, library);
}

std::vector<HeaderFacts> gather_headers() {
  std::vector<HeaderFacts> sets;
  for (const Located& located : pathfinder::locate_all(Kind::header_directory, "cudart")) {
    sets.push_back({located.path, located.how, version_of_headers(located.path)});
  }
  return sets;
}

}  // namespace cuprum::cli
