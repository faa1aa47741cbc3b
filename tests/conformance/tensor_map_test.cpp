// Tensor maps: what may be described, and how kernels get the description.
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "conformance/driver.hpp"
#include "support/tensor_map_model.hpp"

namespace conformance {
namespace {

using tensor_map_model::Arguments;

// by_value(map, out): copies the 128 bytes of the parameter, with ld.param.
// by_address(map, out): the same through the parameter's generic address, as for __grid_constant__.
// twice(scale, map, out): the second of two parameters, so that it needs to be aligned; adds scale to the first word.
const std::string kMapKernels = [] {
  std::string by_value, by_address, twice;
  for (int word = 0; word < 16; ++word) {
    const std::string at = std::to_string(8 * word);
    by_value += "  ld.param.u64 %rd2, [map+" + at + "];\n  st.global.u64 [%rd1+" + at + "], %rd2;\n";
    by_address += "  ld.u64 %rd2, [%rd3+" + at + "];\n  st.global.u64 [%rd1+" + at + "], %rd2;\n";
    twice += "  ld.param.u64 %rd2, [map+" + at + "];\n" +
             std::string(word == 0 ? "  add.u64 %rd2, %rd2, %rd3;\n" : "") + "  st.global.u64 [%rd1+" + at +
             "], %rd2;\n";
  }
  const std::string registers = "  .reg .b64 %rd<4>;\n  ld.param.u64 %rd1, [out];\n  cvta.to.global.u64 %rd1, %rd1;\n";
  return ".version 8.0\n.target sm_90\n.address_size 64\n"
         ".visible .entry by_value(.param .align 64 .b8 map[128], .param .u64 out) {\n" +
         registers + by_value +
         "  ret;\n}\n.visible .entry by_address(.param .align 64 .b8 map[128], .param .u64 out) {\n" + registers +
         "  mov.b64 %rd3, map;\n  cvta.param.u64 %rd3, %rd3;\n" + by_address +
         "  ret;\n}\n.visible .entry twice(.param .u64 scale, .param .align 64 .b8 map[128], .param .u64 out) {\n" +
         registers + "  ld.param.u64 %rd3, [scale];\n" + twice + "  ret;\n}\n";
}();

using Words = std::vector<std::uint64_t>;
Words words(const CUtensorMap& map) { return {std::begin(map.opaque), std::end(map.opaque)}; }

class TensorMap : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    int supported = 0, major = 0, minor = 0;
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, device_));
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device_));
    ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device_));
    capability_ = static_cast<unsigned>(10 * major + minor);
    EXPECT_EQ(supported, capability_ >= 90 ? 1 : 0);
    if (supported == 0) GTEST_SKIP() << "the device has no tensor maps";
  }

  static CUresult encode(const Arguments& arguments, CUtensorMap& map) {
    return tensor_map_model::encode(arguments, map, CU(cuTensorMapEncodeTiled), CU(cuTensorMapEncodeIm2col),
                                    CU(cuTensorMapEncodeIm2colWide));
  }
  // Not maps by value, for which compilers don't keep to the alignment.
  static Words encoded(const Arguments& arguments) {
    CUtensorMap map{};
    EXPECT_SUCCESS(encode(arguments, map));
    return words(map);
  }
  // What a kernel finds in its parameter.
  static Words found_by(const TestModule& module, const char* kernel, const CUtensorMap& map) {
    const PinnedMemory<CUtensorMap> out(1);
    CUdeviceptr target = out.device();
    void* parameters[] = {const_cast<CUtensorMap*>(&map), &target};
    EXPECT_SUCCESS(CU(cuLaunchKernel)(module.function(kernel), 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    return words(out[0]);
  }
  static Arguments im2col() {
    Arguments arguments;
    arguments.kind = Arguments::Kind::im2col;
    arguments.rank = 4;
    arguments.extents = {64, 16, 16, 2, 1};
    arguments.strides = {256, 4096, 65536, 0, 0};
    arguments.lower_corner = {-1, -1, 0};
    arguments.upper_corner = {-1, -1, 0};
    return arguments;
  }

  // Random arguments of a kind are taken if they break no rule, and refused otherwise.
  void compare_with_rules(Arguments::Kind kind, std::uint64_t first_seed, std::uint64_t count) {
    std::set<std::string> broken_alone;
    std::uint64_t taken = 0;
    for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
      std::mt19937_64 random(seed);
      const Arguments arguments = tensor_map_model::random_arguments(random, kind, capability_);
      const std::vector<std::string> broken = tensor_map_model::broken_rules(arguments, capability_);
      if (broken.size() == 1) broken_alone.insert(broken[0]);
      taken += broken.empty() ? 1 : 0;
      CUtensorMap map{};
      const CUresult result = encode(arguments, map);
      ASSERT_EQ(name_of(result), broken.empty() ? "CUDA_SUCCESS" : "CUDA_ERROR_INVALID_VALUE")
          << "seed " << seed << ": " << text(arguments) << "\nbroken: " << testing::PrintToString(broken);
    }
    EXPECT_GT(taken, count / 5);
    EXPECT_GT(count - taken, count / 5);
    for (const std::string& rule : tensor_map_model::all_rules(kind, capability_)) {
      EXPECT_TRUE(broken_alone.contains(rule)) << "nothing broke this rule alone: " << rule;
    }
  }

  unsigned capability_ = 0;
};

TEST_F(TensorMap, DescribesElementsOfEveryType) {
  for (std::uint32_t type = 0; type <= CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ; ++type) {
    Arguments arguments;
    arguments.data_type = type;
    EXPECT_NE(encoded(arguments), Words(16)) << type;
  }
}

TEST_F(TensorMap, DescribesOneToFiveAxes) {
  for (cuuint32_t rank = 1; rank <= 5; ++rank) {
    Arguments arguments;
    arguments.rank = rank;
    EXPECT_NE(encoded(arguments), Words(16)) << rank;
  }
}

TEST_F(TensorMap, OfOneAxisNeedsStridesToo) {
  const Arguments arguments;
  CUtensorMap map{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    CU(cuTensorMapEncodeTiled)(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 1,
                                               reinterpret_cast<void*>(arguments.address), arguments.extents.data(),
                                               nullptr, arguments.box.data(), arguments.element_strides.data(),
                                               CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
}

TEST_F(TensorMap, OfNullIsForLater) {
  Arguments arguments;
  arguments.address = 0;
  CUtensorMap map{};
  ASSERT_SUCCESS(encode(arguments, map));
  EXPECT_SUCCESS(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(Arguments().address)));
  EXPECT_EQ(words(map), encoded(Arguments()));
}

TEST_F(TensorMap, OfTilesKeepsToTheRules) { compare_with_rules(Arguments::Kind::tiled, 1, 20000); }

TEST_F(TensorMap, OfColumnsKeepsToTheRules) { compare_with_rules(Arguments::Kind::im2col, 1, 20000); }

// Although only newer devices than 9.0 have copies that use it. The others take it for im2col.
TEST_F(TensorMap, OfWideColumnsIsForAllDevices) {
  Arguments arguments = im2col();
  arguments.kind = Arguments::Kind::im2col_wide;
  arguments.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
  EXPECT_NE(encoded(arguments), Words(16));
  if (capability_ < 100) compare_with_rules(Arguments::Kind::im2col_wide, 1, 20000);
}

// Whatever the documentation says.
TEST_F(TensorMap, OfInterleavedElementsNeedsNoSwizzle) {
  Arguments arguments;
  arguments.rank = 3;
  arguments.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
  EXPECT_NE(encoded(arguments), Words(16));
}

TEST_F(TensorMap, DISABLED_OfWideColumnsKeepsToTheRules) {
  ASSERT_GE(capability_, 100u);
  compare_with_rules(Arguments::Kind::im2col_wide, 1, 20000);
  compare_with_rules(Arguments::Kind::tiled, 1, 20000);  // which has types and swizzles more, too
  compare_with_rules(Arguments::Kind::im2col, 1, 20000);
}
TEST_F(TensorMap, OfWideColumnsKeepsToTheRules) {
  if (!is_softgpu()) GTEST_SKIP() << "softgpu can be told its compute capability, a GPU can't";
  EXPECT_EQ(run_in_child("TensorMap.DISABLED_OfWideColumnsKeepsToTheRules", {"SOFTGPU_COMPUTE_CAPABILITY=10.0"}), 0);
}

TEST(TensorMapOfOlderDevices, DISABLED_IsRefused) {
  ASSERT_SUCCESS(CU(cuInit)(0));
  CUcontext context = nullptr;
  ASSERT_SUCCESS(CU(cuDevicePrimaryCtxRetain)(&context, 0));
  ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  int supported = 1;
  ASSERT_SUCCESS(CU(cuDeviceGetAttribute)(&supported, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0));
  EXPECT_EQ(supported, 0);
  CUtensorMap map{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE,
                    tensor_map_model::encode(Arguments(), map, CU(cuTensorMapEncodeTiled), CU(cuTensorMapEncodeIm2col),
                                             CU(cuTensorMapEncodeIm2colWide)));
}
TEST(TensorMapOfOlderDevices, IsRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "softgpu can be told its compute capability, a GPU can't";
  EXPECT_EQ(run_in_child("TensorMapOfOlderDevices.DISABLED_IsRefused", {"SOFTGPU_COMPUTE_CAPABILITY=8.0"}), 0);
}

TEST_F(TensorMap, NeedsItsPlaceAndItsArrays) {
  const Arguments a;
  struct alignas(128) Place {
    std::byte bytes[sizeof(CUtensorMap) + 64];
  } place{};
  const auto encode_at = [&](std::size_t offset, const cuuint64_t* extents, const cuuint64_t* strides,
                             const cuuint32_t* box, const cuuint32_t* element_strides) {
    return CU(cuTensorMapEncodeTiled)(
        reinterpret_cast<CUtensorMap*>(place.bytes + offset), CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2,
        reinterpret_cast<void*>(a.address), extents, strides, box, element_strides, CU_TENSOR_MAP_INTERLEAVE_NONE,
        CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  const cuuint64_t *extents = a.extents.data(), *strides = a.strides.data();
  const cuuint32_t *box = a.box.data(), *element_strides = a.element_strides.data();
  EXPECT_SUCCESS(encode_at(0, extents, strides, box, element_strides));
  EXPECT_SUCCESS(encode_at(64, extents, strides, box, element_strides));
  EXPECT_SUCCESS(encode_at(32, extents, strides, box, element_strides));  // although 64 are demanded
  EXPECT_SUCCESS(encode_at(1, extents, strides, box, element_strides));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, encode_at(0, nullptr, strides, box, element_strides));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, encode_at(0, extents, nullptr, box, element_strides));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, encode_at(0, extents, strides, nullptr, element_strides));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, encode_at(0, extents, strides, box, nullptr));
}

TEST_F(TensorMap, ThatIsRefusedLeavesThePlaceAsItWas) {
  if (!is_softgpu()) GTEST_SKIP() << "NVIDIA's driver has written a part of it by then";
  CUtensorMap map{};
  ASSERT_SUCCESS(encode(Arguments(), map));
  const Words before = words(map);
  Arguments wrong;
  wrong.box[1] = 257;
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, encode(wrong, map));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(24)));
  EXPECT_EQ(words(map), before);
}

TEST_F(TensorMap, OfAnotherAddressIsAsIfMadeForIt) {
  for (Arguments arguments : {Arguments(), im2col()}) {
    CUtensorMap map{};
    ASSERT_SUCCESS(encode(arguments, map));
    arguments.address += 16 << 20;
    EXPECT_SUCCESS(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(arguments.address)));
    EXPECT_EQ(words(map), encoded(arguments));
  }
}

TEST_F(TensorMap, OfAnotherAddressNeedsAMultipleOf16) {
  Arguments arguments;
  CUtensorMap map{};
  ASSERT_SUCCESS(encode(arguments, map));
  EXPECT_SUCCESS(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(48)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(40)));
  EXPECT_SUCCESS(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(1ull << 48)));
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(1ull << 57)));
  arguments.rank = 3;
  arguments.interleave = CU_TENSOR_MAP_INTERLEAVE_32B;
  arguments.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
  ASSERT_SUCCESS(encode(arguments, map));
  EXPECT_SUCCESS(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(48)));  // although 32 are demanded
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(40)));
  if (is_softgpu()) {  // a GPU's driver need not look
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuTensorMapReplaceAddress)(nullptr, reinterpret_cast<void*>(64)));
  }
}

TEST_F(TensorMap, ReachesAKernelAsAParameter) {
  const TestModule module(kMapKernels.c_str());
  CUtensorMap map{};
  ASSERT_SUCCESS(encode(Arguments(), map));
  EXPECT_EQ(found_by(module, "by_value", map), words(map));
  EXPECT_EQ(found_by(module, "by_address", map), words(map));
}

TEST_F(TensorMap, IsAlignedAmongOtherParameters) {
  const TestModule module(kMapKernels.c_str());
  const CUfunction function = module.function("twice");
  const PinnedMemory<CUtensorMap> out(1);
  CUtensorMap map{};
  ASSERT_SUCCESS(encode(Arguments(), map));
  Words expected = words(map);
  expected[0] += 5;
  std::uint64_t scale = 5;
  CUdeviceptr target = out.device();
  void* parameters[] = {&scale, &map, &target};
  EXPECT_SUCCESS(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, parameters, nullptr));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  EXPECT_EQ(words(out[0]), expected);
}

// A parameter is aligned where it is in the GPU's bank of constants, in which the block of parameters begins at 0x210
// on devices of compute capability 9.0, and at 0x380 on newer ones.
TEST_F(TensorMap, IsWhereTheDeviceAlignsIt) {
  const TestModule module(kMapKernels.c_str());
  const CUfunction function = module.function("twice");
  std::size_t offsets[3] = {}, sizes[3] = {};
  for (std::size_t i = 0; i < 3; ++i) EXPECT_SUCCESS(CU(cuFuncGetParamInfo)(function, i, &offsets[i], &sizes[i]));
  EXPECT_EQ(offsets[1], capability_ >= 100 ? 64u : 48u);
  EXPECT_EQ(sizes[1], 128u);
  EXPECT_EQ(offsets[2], offsets[1] + 128);
  CUtensorMap map{};
  ASSERT_SUCCESS(encode(Arguments(), map));
  const PinnedMemory<CUtensorMap> out(1);
  const std::uint64_t scale = 5;
  const CUdeviceptr target = out.device();
  std::vector<std::byte> buffer(offsets[2] + sizes[2]);
  std::memcpy(&buffer[offsets[0]], &scale, sizeof scale);
  std::memcpy(&buffer[offsets[1]], &map, sizeof map);
  std::memcpy(&buffer[offsets[2]], &target, sizeof target);
  std::size_t bytes = buffer.size();
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, buffer.data(), CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  EXPECT_SUCCESS(CU(cuLaunchKernel)(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  EXPECT_SUCCESS(CU(cuCtxSynchronize)());
  Words expected = words(map);
  expected[0] += scale;
  EXPECT_EQ(words(out[0]), expected);
}

TEST_F(TensorMap, IsCopiedWhenAGraphGetsIt) {
  const TestModule module(kMapKernels.c_str());
  const PinnedMemory<CUtensorMap> out(1);
  Arguments arguments;
  CUtensorMap map{};
  ASSERT_SUCCESS(encode(arguments, map));
  const Words first = words(map);
  CUdeviceptr target = out.device();
  void* parameters[] = {&map, &target};
  CUDA_KERNEL_NODE_PARAMS node_params{};
  node_params.func = module.function("by_address");
  node_params.gridDimX = node_params.gridDimY = node_params.gridDimZ = 1;
  node_params.blockDimX = node_params.blockDimY = node_params.blockDimZ = 1;
  node_params.kernelParams = parameters;
  CUgraph graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphExec executable = nullptr;
  ASSERT_SUCCESS(CU(cuGraphCreate)(&graph, 0));
  ASSERT_SUCCESS(CU(cuGraphAddKernelNode)(&node, graph, nullptr, 0, &node_params));
  arguments.address += 4096;
  EXPECT_SUCCESS(CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(arguments.address)));
  ASSERT_SUCCESS(CU(cuGraphInstantiate)(&executable, graph, 0));
  const TestStream stream;
  EXPECT_SUCCESS(CU(cuGraphLaunch)(executable, stream.get()));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(words(out[0]), first);
  EXPECT_SUCCESS(CU(cuGraphExecKernelNodeSetParams)(executable, node, &node_params));
  EXPECT_SUCCESS(CU(cuGraphLaunch)(executable, stream.get()));
  EXPECT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  EXPECT_EQ(words(out[0]), encoded(arguments));
  EXPECT_SUCCESS(CU(cuGraphExecDestroy)(executable));
  EXPECT_SUCCESS(CU(cuGraphDestroy)(graph));
}

TEST_F(TensorMap, NeedsAContext) {
  std::thread([] {
    CUtensorMap map{};
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, encode(Arguments(), map));
    EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_CONTEXT, CU(cuTensorMapReplaceAddress)(&map, nullptr));
  }).join();
}

TEST_F(TensorMap, OfBytesThatAreNoneIsRefused) {
  if (!is_softgpu()) GTEST_SKIP() << "softgpu knows its own; a GPU's driver need not";
  CUtensorMap map{};
  EXPECT_CUDA_ERROR(CUDA_ERROR_INVALID_VALUE, CU(cuTensorMapReplaceAddress)(&map, reinterpret_cast<void*>(64)));
}

}  // namespace
}  // namespace conformance
