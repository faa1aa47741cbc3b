// Tells what an image of device code is and what it was compiled for, without a driver.
//
//   Image image = recognize(bytes_of(file));
//   image.kind == ImageKind::cubin && image.parts[0].architecture.number == 90
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "device_image/architecture.hpp"
#include "device_image/bytes.hpp"
#include "device_image/fatbin.hpp"

namespace cuprum::device_image {

enum class ImageKind {
  ptx,      ///< text
  cubin,    ///< an ELF file for a GPU
  ltoir,    ///< input of the link-time optimiser
  fatbin,   ///< several of those
  object,   ///< an ELF file for the host, which may carry fatbins
  archive,  ///< several of any
};

/// "PTX", "a cubin (machine code)", "LTO-IR", "a fatbin", "a host object file", "an archive".
const char* description(ImageKind kind);

/// One piece of code for one architecture.
struct ImagePart {
  EntryKind kind{};
  Architecture architecture{};
  bool is_relocatable = false;  ///< machine code that is to be linked before it can run; only cubins tell
};

struct Image {
  ImageKind kind{};
  std::vector<ImagePart> parts = {};  ///< all code in it; none in a host file that was compiled without CUDA
};

bool starts_like_ltoir(Bytes image);

/// None when the bytes look like no image of device code. Throws Damaged when they start like one but are not whole.
/// LTO-IR doesn't say how long it is: its header alone is checked.
std::optional<Image> recognize(Bytes image);

/// "sm_90, compute_90": the parts, each by its architecture.
std::string architectures(const Image& image);

/// Whether a device of compute capability `device` (90 for 9.0) can run some part of it, by loading it or compiling it.
bool runs_on(unsigned device, const Image& image);

}  // namespace cuprum::device_image
