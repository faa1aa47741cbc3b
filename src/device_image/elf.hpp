// ELF files of 64 bits: machine code for GPUs (cubins), and the host's object files that carry fatbins.
#pragma once

#include <string_view>
#include <vector>

#include "device_image/architecture.hpp"
#include "device_image/bytes.hpp"

namespace cuprum::device_image {

struct ElfSection {
  std::string_view name;
  Bytes contents;
};

struct ElfFile {
  bool is_device_code = false;     ///< a cubin, else something of the host's
  bool is_relocatable = false;     ///< to be linked before it can run
  Architecture architecture = {};  ///< of device code; ELF keeps no variant
  std::vector<ElfSection> sections = {};
};

bool starts_like_elf(Bytes image);

/// Throws Damaged unless all headers, sections and segments lie within the file.
ElfFile read_elf(Bytes file);

/// The sections in which a host file keeps fatbins: to be linked, and linked.
inline constexpr std::string_view kRelocatableFatbinSection = "__nv_relfatbin", kFatbinSection = ".nv_fatbin";

}  // namespace cuprum::device_image
