// Which CUDA driver a program runs on: NVIDIA's or softgpu, the one in software.
//
// The environment variable CUPRUM_DRIVER decides (auto, nvidia or softgpu; auto when unset), and a program can decide
// for itself before the library first needs a driver:
//
//   cuprum::driver::select(cuprum::driver::Choice::softgpu);
//
// This header needs none of NVIDIA's; the raw driver API is in <cuprum/driver.hpp>.
#pragma once

#include <cuprum/detail/export.hpp>
#include <string>

/// Choosing the CUDA driver, and its raw API.
namespace cuprum::inline CUPRUM_ABI::driver {

/// Which driver to use.
enum class Choice {
  automatic,  ///< NVIDIA's driver when it initialises and shows a device, else softgpu, told once on stderr
  nvidia,     ///< the libcuda.so.1 that the system's loader finds
  softgpu,    ///< CUPRUM_SOFTGPU_PATH, or cuprum/softgpu/libcuda.so.1 in the folder of libcuprum.so
};

/// Chooses the driver, over what CUPRUM_DRIVER says. Throws InvalidArgument once a driver is in use: handles of one
/// driver mean nothing to another. Threads may call it at any time.
CUPRUM_API void select(Choice choice);

/// The driver that is in use, or that select() or CUPRUM_DRIVER chose; `automatic` when that is left to the library and
/// no driver is in use. Opens none. Throws InvalidArgument when CUPRUM_DRIVER is no choice.
CUPRUM_API Choice choice();

/// The driver that was opened.
struct Info {
  Choice kind;       ///< nvidia or softgpu
  std::string path;  ///< the library that was opened
  int version;       ///< the CUDA version that the driver supports, as 1000 * major + 10 * minor: 13000 is 13.0
};

/// The driver in use; chooses and opens one if none is yet. Throws NotSupported when there is none to open.
CUPRUM_API Info info();

/// The file that Choice::softgpu opens, whether or not it is there: put its folder into another program's
/// LD_LIBRARY_PATH to have that run on softgpu, too.
CUPRUM_API std::string softgpu_path();

}  // namespace cuprum::inline CUPRUM_ABI::driver
