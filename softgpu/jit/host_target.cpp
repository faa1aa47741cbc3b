#include "softgpu/jit/host_target.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Target/TargetOptions.h"
#include "llvm/TargetParser/Host.h"

namespace softgpu::jit {
namespace {

struct HostCpu {
  std::string name, features;
};

// Never destroyed, as what follows: another thread may be compiling while the process exits.
const HostCpu& host_cpu() {
  static const HostCpu& cpu = *new HostCpu([] {
    std::vector<std::string> features;
    for (const auto& feature : llvm::sys::getHostCPUFeatures())
      features.push_back((feature.second ? "+" : "-") + feature.first().str());
    std::sort(features.begin(), features.end());  // a hash table has given them
    HostCpu found{llvm::sys::getHostCPUName().str(), ""};
    for (const std::string& feature : features) found.features += (found.features.empty() ? "" : ",") + feature;
    return found;
  }());
  return cpu;
}

// The note that the linker has put into the shared library or program that this code is part of: it changes with
// every change of the compiler, so that no version number has to be kept.
std::string own_build_id() {
  struct Search {
    std::uintptr_t inside;
    std::string id;
  } search{reinterpret_cast<std::uintptr_t>(&own_build_id), {}};
  const auto look = [](dl_phdr_info* info, std::size_t, void* context) {
    auto& self = *static_cast<Search*>(context);
    const auto* headers = info->dlpi_phdr;
    bool ours = false;
    for (int i = 0; i < info->dlpi_phnum; ++i)
      ours |= headers[i].p_type == PT_LOAD && self.inside - (info->dlpi_addr + headers[i].p_vaddr) < headers[i].p_memsz;
    if (!ours) return 0;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      if (headers[i].p_type != PT_NOTE) continue;
      const char* at = reinterpret_cast<const char*>(info->dlpi_addr + headers[i].p_vaddr);
      for (const char* end = at + headers[i].p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
        ElfW(Nhdr) note;
        std::memcpy(&note, at, sizeof note);
        const char* name = at + sizeof note;
        const char* description = name + (note.n_namesz + 3) / 4 * 4;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0)
          self.id.assign(description, note.n_descsz);
        at = description + (note.n_descsz + 3) / 4 * 4;
      }
    }
    return 1;
  };
  dl_iterate_phdr(look, &search);
  return search.id;
}

// Without a build id: which file this is.
std::string own_file() {
  Dl_info info;
  struct stat status;
  if (!dladdr(reinterpret_cast<void*>(&own_build_id), &info) || stat(info.dli_fname, &status) != 0)
    throw std::runtime_error("softgpu can't find its own library file, which the cache of compiled kernels needs");
  return std::string(info.dli_fname) + "," + std::to_string(status.st_size) + "," +
         std::to_string(status.st_mtim.tv_sec) + "," + std::to_string(status.st_mtim.tv_nsec);
}

}  // namespace

namespace {

// The scheduler compares every access to memory with those in front of it that it can't tell apart, and looks through
// the dependencies of each: cubic in the accesses of a basic block, up to a limit that is far too high (1000). Beyond
// ours it takes the oldest for dependent without looking.
//
// CodeGenPrepare starts over with the whole function after most of its changes, unless the function is huge, which it
// takes to be 10,000 blocks: then it looks at what has changed.
//
// MachineCombiner starts over with all blocks behind one in which it has changed something, unless that has so many
// instructions (500): then it looks at what has changed.
//
// X86DomainReassignment looks for logic on general registers that mask registers could do, from each register anew
// through all that is connected with it.
void limit_code_generator() {
  const char* const arguments[] = {"softgpu", "-dag-maps-huge-region=120", "-cgpp-huge-func=300",
                                   "-machine-combiner-inc-threshold=150", "-disable-x86-domain-reassignment"};
  llvm::raw_null_ostream ignored;
  llvm::cl::ParseCommandLineOptions(std::size(arguments), arguments, "", &ignored);
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_host_target() {
  static std::once_flag initialised;
  std::call_once(initialised, [] {
    limit_code_generator();
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();  // settle_masks() writes instructions
  });
  const std::string triple = llvm::sys::getProcessTriple();
  std::string problem;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, problem);
  if (!target) throw std::runtime_error("no code generator for " + triple + ": " + problem);
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // PTX says itself what is fused
  std::unique_ptr<llvm::TargetMachine> machine(
      target->createTargetMachine(triple, host_cpu().name, host_cpu().features, options, llvm::Reloc::PIC_,
                                  llvm::CodeModel::Small, llvm::CodeGenOptLevel::Aggressive, /*JIT=*/true));
  if (!machine) throw std::runtime_error("no code generator for " + triple);
  return machine;
}

const std::string& code_generation_identity() {
  static const std::string& identity = *new std::string([] {
    const std::string build = own_build_id();
    return "LLVM " LLVM_VERSION_STRING "\n" + host_cpu().name + "\n" + host_cpu().features + "\n" +
           (build.empty() ? own_file() : build);
  }());
  return identity;
}

}  // namespace softgpu::jit
