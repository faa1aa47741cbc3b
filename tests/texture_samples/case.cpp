#include "texture_samples/case.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "conformance/driver.hpp"

namespace texture_samples {
namespace {

bool is_layered(Shape shape) { return shape == Shape::lines || shape == Shape::planes || shape == Shape::cubes; }
bool is_cube(Shape shape) { return shape == Shape::cube || shape == Shape::cubes; }
bool is_line(Shape shape) { return shape == Shape::line || shape == Shape::lines || shape == Shape::linear; }

const char* geometry(Shape shape) {
  switch (shape) {
    case Shape::line:
    case Shape::linear: return "1d";
    case Shape::plane:
    case Shape::pitched: return "2d";
    case Shape::volume: return "3d";
    case Shape::lines: return "a1d";
    case Shape::planes: return "a2d";
    case Shape::cube: return "cube";
    case Shape::cubes: return "acube";
  }
  return "";
}

// Three-component vectors have a fourth element that is ignored.
std::string vector(Shape shape, char bank, std::size_t first) {
  const auto element = [&](std::size_t k) { return std::string("%") + bank + std::to_string(first + k); };
  if (is_line(shape)) return element(0);
  if (shape == Shape::volume || is_cube(shape)) return element(0) + ", " + element(1) + ", " + element(2);
  return element(0) + ", " + element(1);
}

std::string padded(std::string elements) {
  const auto commas = std::count(elements.begin(), elements.end(), ',');
  if (commas == 2) elements += elements.substr(elements.rfind(','));
  return "{" + elements + "}";
}

std::string place(const Case& it, char bank) {
  return "[%h, " + padded((is_layered(it.shape) ? "%r3, " : "") + vector(it.shape, bank, 0)) + "]";
}

const char* result_type(const Case& it) {
  if (!it.format.reads_integers) return "f32";
  return it.format.array >= CU_AD_FORMAT_SIGNED_INT8 && it.format.array <= CU_AD_FORMAT_SIGNED_INT32 ? "s32" : "u32";
}

constexpr const char* kHead = R"(
.version 7.1
.target sm_75
.address_size 64
.visible .entry sample(.param .u64 handle, .param .u64 in, .param .u64 out, .param .u32 n) {
  .reg .pred %p0;
  .reg .b32 %r<12>, %o<4>, %t<6>;
  .reg .f32 %f<12>;
  .reg .b64 %h, %d<5>;
  ld.param.u64 %h, [handle];
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  ld.param.u32 %t0, [n];
  mov.u32 %t1, %ctaid.x;
  mov.u32 %t2, %ntid.x;
  mov.u32 %t3, %tid.x;
  mad.lo.u32 %t4, %t1, %t2, %t3;
  setp.ge.u32 %p0, %t4, %t0;
  @%p0 bra DONE;
  mul.wide.u32 %d2, %t4, 48;
  add.u64 %d0, %d0, %d2;
  mul.wide.u32 %d3, %t4, 16;
  add.u64 %d1, %d1, %d3;
  ld.global.v4.b32 {%r0, %r1, %r2, %r3}, [%d0];
  ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%d0 + 16];
  ld.global.v4.b32 {%r8, %r9, %r10, %r11}, [%d0 + 32];
)";

constexpr const char* kTail = R"(
  st.global.v4.b32 [%d1], {%o0, %o1, %o2, %o3};
DONE:
  ret;
}
)";

std::string kernel(const std::string& instruction) {
  std::string text = kHead;
  for (int k = 0; k < 12; ++k) text += "  mov.b32 %f" + std::to_string(k) + ", %r" + std::to_string(k) + ";\n";
  return text + "  " + instruction + kTail;
}

void require(CUresult result, const char* call) {
  if (result == CUDA_SUCCESS) return;
  throw std::runtime_error(std::string(call) + ": " + conformance::name_of(result));
}
#define REQUIRE(name, ...) require(CU(name)(__VA_ARGS__), #name)

// Instructions are compiled once.
CUfunction function_of(const std::string& instruction) {
  static std::map<std::string, CUfunction> functions;
  CUfunction& function = functions[instruction];
  if (function == nullptr) {
    CUmodule module = nullptr;
    REQUIRE(cuModuleLoadData, &module, kernel(instruction).c_str());
    REQUIRE(cuModuleGetFunction, &function, module, "sample");
  }
  return function;
}

class Memory {
 public:
  explicit Memory(std::size_t bytes) { REQUIRE(cuMemAlloc, &pointer_, bytes); }
  ~Memory() { CU(cuMemFree)(pointer_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  CUdeviceptr get() const { return pointer_; }

 private:
  CUdeviceptr pointer_ = 0;
};

constexpr std::size_t kPitchAlignment = 512;

// The memory or the array that a case samples.
class Resource {
 public:
  explicit Resource(const Case& it) {
    if (it.shape == Shape::pitched || it.shape == Shape::linear)
      make_memory(it);
    else if (it.levels != 0)
      make_mipmapped(it);
    else
      make_array(it);
  }
  ~Resource() {
    if (memory_ != 0) CU(cuMemFree)(memory_);
    if (array_ != nullptr) CU(cuArrayDestroy)(array_);
    if (mipmapped_ != nullptr) CU(cuMipmappedArrayDestroy)(mipmapped_);
  }
  Resource(const Resource&) = delete;
  Resource& operator=(const Resource&) = delete;

  CUDA_RESOURCE_DESC description{};

 private:
  static CUDA_ARRAY3D_DESCRIPTOR descriptor(const Case& it) {
    CUDA_ARRAY3D_DESCRIPTOR array{};
    array.Width = it.size[0];
    array.Height = is_line(it.shape) ? 0 : it.size[1];
    if (it.shape == Shape::volume || is_layered(it.shape)) array.Depth = it.size[2] * (is_cube(it.shape) ? 6 : 1);
    if (it.shape == Shape::cube) array.Depth = 6;
    array.Format = it.format.array;
    array.NumChannels = it.format.channels;
    array.Flags = (is_layered(it.shape) ? CUDA_ARRAY3D_LAYERED : 0u) | (is_cube(it.shape) ? CUDA_ARRAY3D_CUBEMAP : 0u) |
                  (it.gathers ? CUDA_ARRAY3D_TEXTURE_GATHER : 0u);
    return array;
  }

  static CUDA_MEMCPY3D filling(const Case& it, unsigned level) {
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = it.texels[level].data();
    copy.WidthInBytes = copy.srcPitch = std::size_t{it.extent(0, level)} * it.format.bytes();
    copy.Height = copy.srcHeight = it.extent(1, level);
    copy.Depth = it.texel_count(level) / (std::size_t{it.extent(0, level)} * it.extent(1, level));
    return copy;
  }

  static void fill(CUarray array, const Case& it, unsigned level) {
    CUDA_MEMCPY3D copy = filling(it, level);
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    REQUIRE(cuMemcpy3D, &copy);
  }

  void make_array(const Case& it) {
    const CUDA_ARRAY3D_DESCRIPTOR array = descriptor(it);
    REQUIRE(cuArray3DCreate, &array_, &array);
    fill(array_, it, 0);
    description.resType = CU_RESOURCE_TYPE_ARRAY;
    description.res.array.hArray = array_;
  }

  void make_mipmapped(const Case& it) {
    const CUDA_ARRAY3D_DESCRIPTOR array = descriptor(it);
    REQUIRE(cuMipmappedArrayCreate, &mipmapped_, &array, it.levels);
    for (unsigned level = 0; level < it.levels; ++level) {
      CUarray of_level = nullptr;
      REQUIRE(cuMipmappedArrayGetLevel, &of_level, mipmapped_, level);
      fill(of_level, it, level);
    }
    description.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    description.res.mipmap.hMipmappedArray = mipmapped_;
  }

  void make_memory(const Case& it) {
    CUDA_MEMCPY3D copy = filling(it, 0);
    const std::size_t pitch = (copy.WidthInBytes + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    REQUIRE(cuMemAlloc, &memory_, pitch * it.size[1]);
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory_;
    copy.dstPitch = pitch;
    copy.dstHeight = it.size[1];
    REQUIRE(cuMemcpy3D, &copy);
    if (it.shape == Shape::linear) {
      description.resType = CU_RESOURCE_TYPE_LINEAR;
      description.res.linear = {memory_, it.format.array, it.format.channels, copy.WidthInBytes};
    } else {
      description.resType = CU_RESOURCE_TYPE_PITCH2D;
      description.res.pitch2D = {memory_, it.format.array, it.format.channels, it.size[0], it.size[1], pitch};
    }
  }

  CUdeviceptr memory_ = 0;
  CUarray array_ = nullptr;
  CUmipmappedArray mipmapped_ = nullptr;
};

std::vector<Output> outputs_of(const Case& it, CUtexObject texture) {
  const std::size_t count = it.inputs.size();
  const Memory in(count * sizeof(Input)), out(count * sizeof(Output));
  REQUIRE(cuMemcpyHtoD, in.get(), it.inputs.data(), count * sizeof(Input));
  constexpr unsigned kBlock = 128;
  const auto threads = static_cast<unsigned>(count);
  require(conformance::launch(function_of(it.instruction), (threads + kBlock - 1) / kBlock, kBlock, nullptr, texture,
                              in.get(), out.get(), threads),
          "cuLaunchKernel");
  std::vector<Output> outputs(count);
  REQUIRE(cuMemcpyDtoH, outputs.data(), out.get(), count * sizeof(Output));
  return outputs;
}

}  // namespace

unsigned Case::extent(unsigned axis, unsigned level) const {
  if (axis == 1 && is_line(shape)) return 1;
  if (axis == 2 && shape != Shape::volume) return size[2];
  return std::max(size[axis] >> level, 1u);
}

std::size_t Case::texel_count(unsigned level) const {
  return std::size_t{extent(0, level)} * extent(1, level) * extent(2, level) * (is_cube(shape) ? 6 : 1);
}

std::string tex(const Case& it, const std::string& how) {
  std::string text = "tex" + how + "." + geometry(it.shape) + ".v4." + result_type(it) + ".f32 {%o0, %o1, %o2, %o3}, " +
                     place(it, 'f');
  if (how == ".level") text += ", %f10";
  if (how == ".grad")
    text += ", " + padded(vector(it.shape, 'f', kRight)) + ", " + padded(vector(it.shape, 'f', kDown));
  return text + ";";
}

std::string tex_by_index(const Case& it, const std::string& how) {
  return "tex" + how + "." + geometry(it.shape) + ".v4." + result_type(it) + ".s32 {%o0, %o1, %o2, %o3}, " +
         place(it, 'r') + (how.empty() ? ";" : ", %r10;");
}

std::string gather(const Case& it, char channel) {
  return std::string("tld4.") + channel + "." + geometry(it.shape) + ".v4." + result_type(it) +
         ".f32 {%o0, %o1, %o2, %o3}, " + place(it, 'f') + ";";
}

Answer run(const Case& it) {
  static const bool initialized = [] {
    CUdevice device = 0;
    CUcontext context = nullptr;
    REQUIRE(cuInit, 0);
    REQUIRE(cuDeviceGet, &device, 0);
    REQUIRE(cuDevicePrimaryCtxRetain, &context, device);
    REQUIRE(cuCtxSetCurrent, context);
    return true;
  }();
  (void)initialized;
  const Resource resource(it);
  Answer answer;
  CUtexObject texture = 0;
  answer.created = CU(cuTexObjectCreate)(&texture, &resource.description, &it.sampling, nullptr);
  if (answer.created != CUDA_SUCCESS) return answer;
  answer.outputs = outputs_of(it, texture);
  REQUIRE(cuTexObjectDestroy, texture);
  return answer;
}

}  // namespace texture_samples
