#include "diagnose.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <sstream>

#include "terminal.hpp"

namespace cuprum::cli {
namespace {

namespace fs = std::filesystem;
using Findings = std::vector<Finding>;

std::string variable(const Facts& facts, const char* name) {
  const auto found = facts.variables.find(name);
  return found == facts.variables.end() ? std::string() : found->second;
}

const LibraryFacts* library(const Facts& facts, const char* name) {
  const auto found = std::find_if(facts.libraries.begin(), facts.libraries.end(),
                                  [&](const LibraryFacts& candidate) { return candidate.name == name; });
  return found == facts.libraries.end() ? nullptr : &*found;
}

bool works(const LibraryFacts* library) { return library && !library->path.empty() && library->problem.empty(); }

std::string from(const LibraryFacts& library) { return library.path + " (" + library.how + ")"; }

std::string pip_install(std::initializer_list<const char*> packages, int cuda) {
  std::string command = "pip install";
  for (const char* package : packages) command += std::string(" ") + package + "==" + cuda_version(cuda) + ".*";
  return command;
}

bool is_in_linker_path(const Facts& facts, const fs::path& file) {
  std::istringstream folders(variable(facts, "LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code error;
    if (!folder.empty() && (fs::path(folder) / "").parent_path() == file.parent_path()) return true;
    if (!folder.empty() && fs::equivalent(folder, file.parent_path(), error)) return true;
  }
  return false;
}

// What may be why nothing runs is an error only where nothing runs: with CUPRUM_DRIVER=softgpu, say, the state of
// NVIDIA's driver does no harm.
Severity severity_if_in_the_way(const Facts& facts) {
  return facts.tour.problem.empty() ? Severity::warning : Severity::error;
}

// ---- Drivers and devices ----

void check_driver(const Facts& facts, Findings& out) {
  if (driver_in_use(facts)) return;
  const std::string choice = variable(facts, "CUPRUM_DRIVER");
  if (!choice.empty() && choice != "auto" && choice != "nvidia" && choice != "softgpu") {
    out.push_back({Severity::error, "unknown-driver", "CUPRUM_DRIVER is '" + choice + "', which is no driver",
                   "set it to auto, nvidia or softgpu, or unset it"});
    return;
  }
  std::string what = "there is no CUDA driver to run on";
  if (choice != "softgpu") what += ". NVIDIA: " + facts.nvidia.problem;
  if (choice != "nvidia") what += ". softgpu: " + facts.softgpu.problem;
  out.push_back({Severity::error, "no-driver", what,
                 "on a machine with an NVIDIA GPU, install its driver; on another one, build Cuprum with softgpu "
                 "(-DCUPRUM_SOFTGPU=ON) and leave CUPRUM_DRIVER unset"});
}

void check_hidden_devices(const Facts& facts, Findings& out) {
  if (!facts.variables.contains("CUDA_VISIBLE_DEVICES") || facts.kernel_module.empty()) return;
  if (!facts.nvidia.devices.empty()) return;
  out.push_back(
      {Severity::warning, "devices-hidden",
       "CUDA_VISIBLE_DEVICES is '" + variable(facts, "CUDA_VISIBLE_DEVICES") + "', and NVIDIA's driver shows no device",
       "unset CUDA_VISIBLE_DEVICES, or name devices that exist in it"});
}

void check_device_files(const Facts& facts, Findings& out) {
  if (facts.forbidden_devices.empty()) return;
  out.push_back({Severity::warning, "devices-forbidden",
                 "this user may not open " + facts.forbidden_devices.front() +
                     (facts.forbidden_devices.size() > 1 ? " and others" : "") + ", so NVIDIA's driver finds no device",
                 "add the user to the group that owns the file (often 'video'); in a container, start it with its GPUs "
                 "(docker run --gpus all)"});
}

// The kernel's part of the driver and the libraries are updated together, but the kernel's stays until it is reloaded.
void check_kernel_module(const Facts& facts, Findings& out) {
  const LibraryFacts* nvml = library(facts, "nvml");
  if (!nvml || facts.kernel_module.empty() || nvml->path.empty()) return;
  const bool says_mismatch = nvml->problem.find("ersion mismatch") != std::string::npos;
  const bool differs = !nvml->version.empty() && nvml->version != "driver " + facts.kernel_module;
  if (!says_mismatch && !differs) return;
  out.push_back({severity_if_in_the_way(facts), "driver-half-updated",
                 "NVIDIA's kernel module is version " + facts.kernel_module + ", its libraries are of another" +
                     (differs ? " (" + nvml->version + ")" : ""),
                 "restart the machine, or unload the kernel modules (nvidia_uvm, nvidia) and load them again; in a "
                 "container, restart it after the host's driver was updated"});
}

// ---- The compiler ----

void check_nvrtc(const Facts& facts, Findings& out) {
  if (works(&facts.nvrtc.library)) return;
  out.push_back({Severity::error, "no-nvrtc",
                 "NVRTC, which compiles CUDA C++, can't be used: " + facts.nvrtc.library.problem,
                 "install it: pip install nvidia-cuda-nvrtc nvidia-cuda-runtime nvidia-cuda-cccl nvidia-cuda-crt (into "
                 "the active environment), or a CUDA toolkit; set CUDA_HOME when that is in an unusual folder"});
}

void check_headers(const Facts& facts, Findings& out) {
  if (!works(&facts.nvrtc.library) || !facts.nvrtc.header_folders.empty()) return;
  std::string remarks;
  for (const std::string& remark : facts.nvrtc.remarks) remarks += "\n  " + remark;
  const int version = facts.nvrtc.library.cuda_version;
  out.push_back({Severity::warning, "no-headers",
                 "NVRTC " + cuda_version(version) +
                     " has no CUDA headers of its own release with it, so programs that "
                     "include <cuda_fp16.h> and its like don't compile:" +
                     remarks,
                 facts.nvrtc.library.via == "wheel"
                     ? pip_install({"nvidia-cuda-runtime", "nvidia-cuda-cccl", "nvidia-cuda-crt"}, version)
                     : "install the toolkit's development files of CUDA " + cuda_version(version) +
                           " into the same folder (Debian: cuda-cudart-dev, cuda-cccl)"});
}

void check_ptx_version(const Facts& facts, Findings& out) {
  const DriverFacts& driver = facts.nvidia;  // softgpu goes by what PTX it knows, not by version
  const int compiler = facts.nvrtc.library.cuda_version;
  if (driver.version == 0 || compiler <= driver.version) return;
  const bool same_major = compiler / 1000 == driver.version / 1000;
  out.push_back(
      {same_major ? Severity::warning : severity_if_in_the_way(facts), "ptx-newer-than-driver",
       "NVRTC is of CUDA " + cuda_version(compiler) + ", the driver takes CUDA " + cuda_version(driver.version) +
           ": it refuses the PTX that this NVRTC makes" + (same_major ? "; machine code (Target::cubin) it runs" : ""),
       "install the NVRTC of the driver's release (" + pip_install({"nvidia-cuda-nvrtc"}, driver.version) +
           " and its companions), or a newer driver" + (same_major ? "; or compile to Target::cubin only" : "")});
}

void check_architectures(const Facts& facts, Findings& out) {
  const DriverFacts* driver = driver_in_use(facts);
  const std::vector<int>& known = facts.nvrtc.architectures;
  if (!driver || known.empty()) return;
  for (const DeviceFacts& device : driver->devices) {
    const int architecture = std::atoi(device.architecture.c_str());
    if (std::find(known.begin(), known.end(), architecture) != known.end()) continue;
    const bool is_newer = architecture > *std::max_element(known.begin(), known.end());
    out.push_back({Severity::warning, "architecture-unknown",
                   "NVRTC " + facts.nvrtc.library.version + " doesn't compile for compute capability " +
                       device.architecture + " of device " + std::to_string(device.id) + " (" + device.name + ")",
                   is_newer ? "install a newer NVRTC; until then, ask for an older virtual architecture and PTX"
                            : "install an older NVRTC: support for this device was taken out"});
  }
}

// ---- Sets that don't belong together ----

void check_companion(const Facts& facts, const LibraryFacts& other, const char* use, Findings& out) {
  const LibraryFacts& nvrtc = facts.nvrtc.library;
  if (!works(&nvrtc) || !works(&other)) return;
  const bool is_older = other.cuda_version && other.cuda_version < nvrtc.cuda_version;
  const bool is_mixed = (nvrtc.via == "wheel") != (other.via == "wheel");
  if (!is_older && !is_mixed) return;
  const std::string versions = other.cuda_version ? " " + cuda_version(other.cuda_version) : "";
  out.push_back({Severity::warning, is_older ? "older-than-nvrtc" : "wheels-and-toolkit-mixed",
                 "NVRTC " + nvrtc.version + " is " + from(nvrtc) + ", but " + other.name + versions + " is " +
                     from(other) + (is_older ? std::string(": ") + use : std::string()),
                 nvrtc.via == "wheel"
                     ? pip_install({other.name == "nvJitLink" ? "nvidia-nvjitlink" : "nvidia-nvvm"}, nvrtc.cuda_version)
                     : "install " + other.name + " of the toolkit that NVRTC is from, or take both from wheels"});
}

void check_companions(const Facts& facts, Findings& out) {
  if (const LibraryFacts* linker = library(facts, "nvJitLink")) {
    check_companion(facts, *linker, "it can't link the LTO-IR and the PTX of a newer NVRTC", out);
  }
  const LibraryFacts* nvvm = library(facts, "nvvm");
  if (nvvm) check_companion(facts, *nvvm, "it is of an older release", out);
  if (works(nvvm) && facts.libdevice.empty()) {
    out.push_back({Severity::warning, "no-libdevice",
                   "there is libNVVM, but no libdevice: NVVM IR that calls mathematical functions doesn't link",
                   "install it with libNVVM (pip install nvidia-nvvm, or the toolkit), or set CUPRUM_LIBDEVICE"});
  }
}

void check_unopenable(const Facts& facts, Findings& out) {
  for (const LibraryFacts& library : facts.libraries) {
    if (library.path.empty() || library.problem.empty()) continue;
    if (library.name == "nvml" && facts.kernel_module.empty()) continue;  // without the driver it has nothing to say
    out.push_back({Severity::warning, "library-unusable",
                   library.name + ", " + from(library) + ", can't be used: " + library.problem,
                   "install it anew together with the libraries that it needs, or remove it"});
  }
}

// ---- Shadows ----

void check_shadow(const Facts& facts, const LibraryFacts& library, Findings& out) {
  if (!library.without_linker_path.empty()) {
    out.push_back({Severity::warning, "linker-path-shadows",
                   "LD_LIBRARY_PATH puts " + library.path + " before " + library.without_linker_path,
                   "take its folder out of LD_LIBRARY_PATH, unless that is what you want"});
  }
  for (const Place& other : library.shadowed) {
    if (!is_in_linker_path(facts, other.path)) continue;
    out.push_back({Severity::warning, "linker-path-shadows",
                   "Cuprum takes " + from(library) + ", but programs that link to " + library.name + " get " +
                       other.path + ", by LD_LIBRARY_PATH",
                   "take its folder out of LD_LIBRARY_PATH, so that one process doesn't get both"});
  }
}

// NVRTC asks for its built-ins by name: in programs that open NVRTC themselves, LD_LIBRARY_PATH decides which it gets.
void check_builtins(const Facts& facts, Findings& out) {
  const fs::path builtins = facts.nvrtc.builtins;
  if (builtins.empty()) return;
  std::istringstream folders(variable(facts, "LD_LIBRARY_PATH"));
  for (std::string folder; std::getline(folders, folder, ':');) {
    const fs::path other = fs::path(folder) / builtins.filename();
    std::error_code error;
    if (folder.empty() || !fs::exists(other, error) || fs::equivalent(other, builtins, error)) continue;
    out.push_back({Severity::warning, "linker-path-shadows",
                   "LD_LIBRARY_PATH has built-ins of another NVRTC, " + other.string() +
                       "; those of the one that is used are " + builtins.string(),
                   "take " + folder + " out of LD_LIBRARY_PATH"});
  }
}

void check_driver_library(const Facts& facts, Findings& out) {
  const LibraryFacts* cuda = library(facts, "cuda");
  if (!cuda || cuda->path.empty()) return;
  if (cuda->path.find("/stubs/") != std::string::npos) {
    out.push_back({severity_if_in_the_way(facts), "driver-is-a-stub",
                   "the libcuda.so.1 that programs get is " + cuda->path +
                       ", a toolkit's stub for linking: it can't run anything",
                   "take the folder of stubs out of LD_LIBRARY_PATH and /etc/ld.so.conf.d"});
  }
  std::error_code error;
  if (!facts.softgpu.path.empty() && fs::equivalent(cuda->path, facts.softgpu.path, error)) {
    out.push_back(
        {Severity::note, "softgpu-for-all",
         "every CUDA program started from here runs on softgpu: LD_LIBRARY_PATH has its folder",
         "for NVIDIA's driver, take " + fs::path(cuda->path).parent_path().string() + " out of LD_LIBRARY_PATH"});
  }
}

void check_shadows(const Facts& facts, Findings& out) {
  check_shadow(facts, facts.nvrtc.library, out);
  for (const LibraryFacts& library : facts.libraries) check_shadow(facts, library, out);
}

// ---- Settings ----

void check_folders(const Facts& facts, Findings& out) {
  for (const char* name : {"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX", "VIRTUAL_ENV"}) {
    const std::string folder = variable(facts, name);
    std::error_code error;
    if (folder.empty() || fs::is_directory(folder, error)) continue;
    out.push_back({Severity::warning, "variable-names-nothing",
                   std::string(name) + " is '" + folder + "', which is no folder",
                   std::string("unset ") + name + ", or set it to where it is"});
  }
  const std::string home = variable(facts, "CUDA_HOME");
  const std::string path = variable(facts, "CUDA_PATH");
  std::error_code error;
  if (!home.empty() && !path.empty() && home != path && !fs::equivalent(home, path, error)) {
    out.push_back(
        {Severity::warning, "two-toolkits",
         "CUDA_PATH is " + path + " and CUDA_HOME is " + home + "; Cuprum looks into CUDA_PATH first, others don't",
         "set both to the same toolkit, or only one"});
  }
}

void check_caches(const Facts& facts, Findings& out) {
  for (const CacheFacts& cache : facts.caches) {
    if (cache.problem.empty()) continue;
    out.push_back({Severity::warning, "cache-unusable",
                   "the cache of " + cache.name + (cache.path.empty() ? "" : ", " + cache.path) +
                       ", can't be used: " + cache.problem,
                   "everything is compiled anew each time. Make the folder writable for this user, or choose another "
                   "one (XDG_CACHE_HOME)"});
  }
}

// What is still unexplained.
void check_tour(const Facts& facts, Findings& out) {
  if (facts.tour.problem.empty()) return;
  const bool is_explained =
      std::any_of(out.begin(), out.end(), [](const Finding& finding) { return finding.severity == Severity::error; });
  if (is_explained) return;
  out.push_back({Severity::error, "tour-fails",
                 "a small program that compiles and runs a kernel fails: " + facts.tour.problem,
                 "see the message; CUPRUM_DRIVER=softgpu cuprum doctor says whether it is the driver's fault"});
}

using Check = void (*)(const Facts&, Findings&);
constexpr Check checks[] = {
    check_driver,   check_kernel_module, check_device_files,  check_hidden_devices, check_driver_library, check_nvrtc,
    check_headers,  check_ptx_version,   check_architectures, check_companions,     check_unopenable,     check_shadows,
    check_builtins, check_folders,       check_caches,        check_tour,
};

}  // namespace

const DriverFacts* driver_in_use(const Facts& facts) {
  const std::string choice = variable(facts, "CUPRUM_DRIVER");
  const bool nvidia_allowed = choice.empty() || choice == "auto" || choice == "nvidia";
  const bool softgpu_allowed = choice.empty() || choice == "auto" || choice == "softgpu";
  if (nvidia_allowed && facts.nvidia.problem.empty()) return &facts.nvidia;
  if (softgpu_allowed && facts.softgpu.problem.empty()) return &facts.softgpu;
  return nullptr;
}

std::vector<Finding> diagnose(const Facts& facts) {
  Findings findings;
  for (Check check : checks) check(facts, findings);
  Findings worst_first;
  for (Severity severity : {Severity::error, Severity::warning, Severity::note}) {
    std::copy_if(findings.begin(), findings.end(), std::back_inserter(worst_first),
                 [&](const Finding& finding) { return finding.severity == severity; });
  }
  return worst_first;
}

}  // namespace cuprum::cli
