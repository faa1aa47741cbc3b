#include "toolchain/catalog.hpp"

#include <cuprum/error.hpp>

#include "support/text.hpp"

namespace cuprum::toolchain {
namespace {

using support::text;
using Names = std::vector<std::string>;

#if defined(__aarch64__)
constexpr const char* target_folder = "targets/sbsa-linux/";
#else
constexpr const char* target_folder = "targets/x86_64-linux/";
#endif

// NVIDIA's wheels of CUDA 13 share the folder nvidia/cu13, laid out like a toolkit; those of CUDA 12 have one each.
constexpr const char* shared_wheel = "nvidia/cu13/";

// The libraries of the toolkit: their versions, and the folder of their own CUDA 12 wheel.
struct ToolkitLibrary {
  const char* name;
  std::vector<int> versions;
  const char* wheel;
  Names needs = {};
  const char* variable = nullptr;
};

const std::vector<ToolkitLibrary>& toolkit_libraries() {
  static const std::vector<ToolkitLibrary> libraries = {
      {"nvrtc", {13, 12}, "cuda_nvrtc", {}, "CUPRUM_NVRTC"},
      {"nvJitLink", {13, 12}, "nvjitlink", {}, "CUPRUM_NVJITLINK"},
      {"nvfatbin", {13, 12}, "nvfatbin"},
      {"cudart", {13, 12}, "cuda_runtime"},
      {"cublas", {13, 12}, "cublas", {"cublasLt"}},
      {"cublasLt", {13, 12}, "cublas"},
      {"nvblas", {13, 12}, "cublas", {"cublasLt", "cublas"}},
      {"cufft", {12, 11}, "cufft"},
      {"cufftw", {12, 11}, "cufft", {"cufft"}},
      {"curand", {10}, "curand"},
      {"cusolver", {12, 11}, "cusolver", {"nvJitLink", "cusparse", "cublasLt", "cublas"}},
      {"cusolverMg", {12, 11}, "cusolver", {"nvJitLink", "cublasLt", "cublas"}},
      {"cusparse", {12}, "cusparse", {"nvJitLink"}},
      {"nppc", {13, 12}, "npp"},
      {"nppial", {13, 12}, "npp", {"nppc"}},
      {"nppicc", {13, 12}, "npp", {"nppc"}},
      {"nppidei", {13, 12}, "npp", {"nppc"}},
      {"nppif", {13, 12}, "npp", {"nppc"}},
      {"nppig", {13, 12}, "npp", {"nppc"}},
      {"nppim", {13, 12}, "npp", {"nppc"}},
      {"nppist", {13, 12}, "npp", {"nppc"}},
      {"nppisu", {13, 12}, "npp", {"nppc"}},
      {"nppitc", {13, 12}, "npp", {"nppc"}},
      {"npps", {13, 12}, "npp", {"nppc"}},
      {"nvjpeg", {13, 12}, "nvjpeg"},
      {"cufile", {0}, "cufile"},
  };
  return libraries;
}

Names lib_folders() { return {"lib64", "lib", text(target_folder, "lib")}; }

Names versioned(const std::string& name, const std::vector<int>& versions) {
  Names files;
  for (int version : versions) files.push_back(text("lib", name, ".so.", version));
  return files;
}

void add_toolkit_libraries(std::vector<Item>& items) {
  for (const ToolkitLibrary& row : toolkit_libraries()) {
    items.push_back({.kind = Kind::dynamic_lib,
                     .name = row.name,
                     .files = versioned(row.name, row.versions),
                     .wheel_folders = {text(shared_wheel, "lib"), text("nvidia/", row.wheel, "/lib")},
                     .toolkit_folders = lib_folders(),
                     .needs = row.needs,
                     .variable = row.variable});
  }
}

// Libraries that don't keep to the toolkit's usual folders, or come in packages of their own, or with the driver.
void add_other_libraries(std::vector<Item>& items) {
  const auto add = [&](const char* name, Names files, Names wheel_folders, Names toolkit_folders, Names needs = {},
                       const char* variable = nullptr) {
    items.push_back({Kind::dynamic_lib, name, std::move(files), std::move(wheel_folders), std::move(toolkit_folders),
                     std::move(needs), variable});
  };
  add("nvvm", {"libnvvm.so.4"}, {"nvidia/cu13/lib", "nvidia/cuda_nvcc/nvvm/lib64"},
      {"nvvm/lib64", "nvvm/lib", "lib64", "lib"}, {}, "CUPRUM_NVVM");
  add("cupti", {"libcupti.so.13", "libcupti.so.12"}, {"nvidia/cu13/lib", "nvidia/cuda_cupti/lib"},
      {"extras/CUPTI/lib64", "lib64", "lib"});
  add("nccl", {"libnccl.so.2"}, {"nvidia/nccl/lib"}, lib_folders());
  add("cudnn", {"libcudnn.so.9"}, {"nvidia/cudnn/lib"}, lib_folders(), {"cublasLt", "cublas"});
  add("cudss", {"libcudss.so.0"}, {"nvidia/cu13/lib", "nvidia/cu12/lib"}, lib_folders(), {"cublasLt", "cublas"});
  add("cusparseLt", {"libcusparseLt.so.0"}, {"nvidia/cu13/lib", "nvidia/cusparselt/lib"}, lib_folders());
  add("cutensor", {"libcutensor.so.2"}, {"cutensor/lib"}, lib_folders(), {"cublasLt"});
  add("cutensornet", {"libcutensornet.so.2"}, {"cuquantum/lib"}, lib_folders(), {"cutensor", "cublas", "cusolver"});
  add("custatevec", {"libcustatevec.so.1"}, {"cuquantum/lib"}, lib_folders(), {"cublasLt", "cublas"});
  add("mathdx", {"libmathdx.so.0"}, {"nvidia/cu13/lib", "nvidia/cu12/lib"}, lib_folders(), {"nvrtc"});
  add("nvshmem_host", {"libnvshmem_host.so.3"}, {"nvidia/nvshmem/lib"}, lib_folders());
  add("cuda", {"libcuda.so.1"}, {}, {});
  add("nvml", {"libnvidia-ml.so.1"}, {}, {}, {}, "CUPRUM_NVML");
}

// Folders of headers: one that must be there, and the folder of the CUDA 12 wheel.
void add_headers(std::vector<Item>& items) {
  struct Row {
    const char* name;
    const char* header;
    const char* wheel;
  };
  constexpr Row rows[] = {
      {"cudart", "cuda_runtime.h", "cuda_runtime"},
      {"nvrtc", "nvrtc.h", "cuda_nvrtc"},
      {"nvjitlink", "nvJitLink.h", "nvjitlink"},
      {"nvfatbin", "nvFatbin.h", "nvfatbin"},
      {"nvcc", "fatbinary_section.h", "cuda_nvcc"},
      {"profiler", "cuda_profiler_api.h", "cuda_profiler_api"},
      {"cublas", "cublas_v2.h", "cublas"},
      {"cufft", "cufft.h", "cufft"},
      {"cufile", "cufile.h", "cufile"},
      {"cupti", "cupti.h", "cuda_cupti"},
      {"curand", "curand_kernel.h", "curand"},
      {"cusolver", "cusolverDn.h", "cusolver"},
      {"cusparse", "cusparse.h", "cusparse"},
      {"npp", "npp.h", "npp"},
      {"nvjpeg", "nvjpeg.h", "nvjpeg"},
      {"nccl", "nccl.h", "nccl"},
      {"cudnn", "cudnn.h", "cudnn"},
      {"nvshmem", "nvshmem.h", "nvshmem"},
  };
  const auto add = [&](const char* name, const char* header, Names wheel_folders, Names toolkit_folders) {
    items.push_back(
        {Kind::header_directory, name, {header}, std::move(wheel_folders), std::move(toolkit_folders), {}, nullptr});
  };
  for (const Row& row : rows) {
    add(row.name, row.header, {text(shared_wheel, "include"), text("nvidia/", row.wheel, "/include")},
        {"include", text(target_folder, "include")});
  }
  // Since CUDA 13 the C++ core libraries (<cuda/std/…>, <cub/…>, <thrust/…>) have a folder of their own.
  add("cccl", "cuda/std/version", {"nvidia/cu13/include/cccl", "nvidia/cuda_cccl/include"},
      {"include/cccl", text(target_folder, "include/cccl"), "include", text(target_folder, "include")});
  add("nvvm", "nvvm.h", {"nvidia/cu13/include", "nvidia/cuda_nvcc/nvvm/include"}, {"nvvm/include", "include"});
}

void add_bitcode(std::vector<Item>& items) {
  const auto add = [&](const char* name, const char* file, Names wheel_folders, Names toolkit_folders,
                       const char* variable = nullptr) {
    items.push_back(
        {Kind::bitcode_lib, name, {file}, std::move(wheel_folders), std::move(toolkit_folders), {}, variable});
  };
  add("device", "libdevice.10.bc", {"nvidia/cu13/nvvm/libdevice", "nvidia/cuda_nvcc/nvvm/libdevice"},
      {"nvvm/libdevice"}, "CUPRUM_LIBDEVICE");
  add("nccl_device", "libnccl_device.bc", {"nvidia/nccl/lib"}, {"lib"});
  add("nvshmem_device", "libnvshmem_device.bc", {"nvidia/nvshmem/lib"}, {"lib"});
}

void add_static_libraries(std::vector<Item>& items) {
  for (const char* name : {"cudadevrt", "cudart_static"}) {
    items.push_back({Kind::static_lib,
                     name,
                     {text("lib", name, ".a")},
                     {"nvidia/cu13/lib", "nvidia/cuda_runtime/lib"},
                     lib_folders(),
                     {},
                     nullptr});
  }
}

void add_binaries(std::vector<Item>& items) {
  const auto add = [&](const char* name, Names wheel_folders) {
    items.push_back({Kind::binary, name, {name}, std::move(wheel_folders), {"bin"}, {}, nullptr});
  };
  for (const char* name : {"nvcc", "ptxas", "nvlink", "fatbinary", "bin2c", "nvdisasm", "cuobjdump", "nvprune",
                           "cu++filt", "cuda-gdb", "cuda-gdbserver", "compute-sanitizer"}) {
    add(name, {"nvidia/cu13/bin", "nvidia/cuda_nvcc/bin"});
  }
  add("nsys", {"nvidia/nsight_systems/bin"});
  add("ncu", {"nvidia/nsight_compute/bin"});
}

}  // namespace

const std::vector<Item>& catalog() {
  static const std::vector<Item> items = [] {
    std::vector<Item> all;
    add_toolkit_libraries(all);
    add_other_libraries(all);
    add_headers(all);
    add_bitcode(all);
    add_static_libraries(all);
    add_binaries(all);
    return all;
  }();
  return items;
}

const Item& item(Kind kind, std::string_view name) {
  for (const Item& candidate : catalog()) {
    if (candidate.kind == kind && candidate.name == name) return candidate;
  }
  throw InvalidArgument(
      text("the pathfinder knows no ", kind, " '", name, "'; it knows ", support::join(pathfinder::supported(kind))));
}

}  // namespace cuprum::toolchain
