// What a capture in each mode says to calls that have nothing to do with it.
//
// CUDA's documentation calls some of them unsafe and does not list them. The table says what each call answers while a
// stream is captured by the same thread, in the three modes, as NVIDIA's driver 580 does.
#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "conformance/graph.hpp"

namespace conformance {
namespace {

// What calls work on, made before the capture begins and given up after it.
struct Things {
  CUcontext context = nullptr;
  CUdevice device = 0;
  CUstream captured = nullptr, other = nullptr;
  CUevent past = nullptr;  // recorded in `other`, and reached
  CUfunction kernel = nullptr;
  CUgraphExec exec = nullptr;
  CUgraph graph = nullptr;
  CUdeviceptr memory = 0;
  int* pinned = nullptr;
  CUmemoryPool pool = nullptr;
  // What a row makes itself.
  CUdeviceptr pointer = 0;
  void* host = nullptr;
  CUevent event = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  CUlibrary library = nullptr;
  CUarray array = nullptr;
  CUgraph made_graph = nullptr;
  CUgraphExec made_exec = nullptr;
  CUmemoryPool made_pool = nullptr;
  alignas(4096) char pageable[4096];
};

using Call = std::function<CUresult(Things&)>;
struct Row {
  const char* name;
  Call call;
  // In global, thread-local and relaxed mode: the error without CUDA_ERROR_, and ! when the capture is invalid then.
  std::array<const char*, 3> answers;
  Call before = nullptr, after = nullptr;  // outside of the capture
};

constexpr const char* kOk = "SUCCESS";
constexpr const char* kUnsafe = "STREAM_CAPTURE_UNSUPPORTED!";
constexpr std::array kFine{kOk, kOk, kOk}, kRelaxedOnly{kUnsafe, kUnsafe, kOk}, kNever{kUnsafe, kUnsafe, kUnsafe};

std::vector<Row> rows();

class CaptureModes : public GraphTest {
 protected:
  void run(const Row& row) {
    constexpr std::array kModes{CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                                CU_STREAM_CAPTURE_MODE_RELAXED};
    std::array<std::string, 3> answers;
    for (size_t i = 0; i < kModes.size(); ++i) answers[i] = answer(row, kModes[i]);
    const bool same = std::equal(answers.begin(), answers.end(), row.answers.begin());
    EXPECT_TRUE(same) << row.name << " answers " << text(answers);
  }

 private:
  static std::string text(const std::array<std::string, 3>& answers) {
    return "global " + answers[0] + ", thread-local " + answers[1] + ", relaxed " + answers[2];
  }

  std::string answer(const Row& row, CUstreamCaptureMode mode) {
    const TestStream captured(CU_STREAM_NON_BLOCKING), other(CU_STREAM_NON_BLOCKING);
    const TestEvent past;
    const TestGraph graph;
    add_node(graph.get(), {}, 0);
    const TestGraphExec exec(graph.get());
    const DeviceMemory memory(4096);
    Things things;
    things.context = context_;
    things.device = device_;
    things.captured = captured.get();
    things.other = other.get();
    things.past = past.get();
    things.kernel = module_->function("bounded");
    things.exec = exec.get();
    things.graph = graph.get();
    things.memory = memory.get();
    things.pinned = data_->data();
    EXPECT_SUCCESS(CU(cuDeviceGetDefaultMemPool)(&things.pool, device_));
    EXPECT_SUCCESS(CU(cuEventRecord)(past.get(), other.get()));
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    if (row.before) {
      EXPECT_SUCCESS(row.before(things)) << row.name;
    }

    EXPECT_SUCCESS(CU(cuStreamBeginCapture)(captured.get(), mode));
    std::string said = name_of(row.call(things));
    CUstreamCaptureStatus status{};
    CU(cuStreamIsCapturing)(captured.get(), &status);
    if (status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) said += '!';
    CUgraph made = nullptr;
    CU(cuStreamEndCapture)(captured.get(), &made);
    if (made != nullptr) CU(cuGraphDestroy)(made);

    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    if (row.after) row.after(things);
    for (const char* prefix : {"CUDA_ERROR_", "CUDA_"})
      if (said.starts_with(prefix)) said.erase(0, std::string(prefix).size());
    return said;
  }
};

TEST_F(CaptureModes, SayWhatIsUnsafe) {
  for (const Row& row : rows()) run(row);
}

// What has been given up is not given up again.
const Call kFreeMemory = [](Things& t) {
  const CUresult result = t.pointer != 0 ? CU(cuMemFree)(t.pointer) : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) t.pointer = 0;
  return result;
};
const Call kFreeHost = [](Things& t) {
  const CUresult result = t.host != nullptr ? CU(cuMemFreeHost)(t.host) : CUDA_SUCCESS;
  if (result == CUDA_SUCCESS) t.host = nullptr;
  return result;
};
const Call kAllocate = [](Things& t) { return CU(cuMemAlloc)(&t.pointer, 64); };

std::vector<Row> memory_rows() {
  return {
      {"cuMemAlloc", kAllocate, kRelaxedOnly, nullptr, kFreeMemory},
      {"cuMemAllocPitch",
       [](Things& t) {
         size_t pitch = 0;
         return CU(cuMemAllocPitch)(&t.pointer, &pitch, 64, 4, 4);
       },
       kRelaxedOnly, nullptr, kFreeMemory},
      {"cuMemAllocManaged", [](Things& t) { return CU(cuMemAllocManaged)(&t.pointer, 64, CU_MEM_ATTACH_GLOBAL); },
       kRelaxedOnly, nullptr, kFreeMemory},
      {"cuMemFree", kFreeMemory, kRelaxedOnly, kAllocate, kFreeMemory},
      {"cuMemHostAlloc", [](Things& t) { return CU(cuMemHostAlloc)(&t.host, 64, 0); }, kRelaxedOnly, nullptr,
       kFreeHost},
      {"cuMemFreeHost", kFreeHost, kRelaxedOnly, [](Things& t) { return CU(cuMemHostAlloc)(&t.host, 64, 0); },
       kFreeHost},
      {"cuMemHostRegister", [](Things& t) { return CU(cuMemHostRegister)(t.pageable, sizeof t.pageable, 0); },
       kRelaxedOnly, nullptr, [](Things& t) { return CU(cuMemHostUnregister)(t.pageable); }},
      {"cuMemHostUnregister", [](Things& t) { return CU(cuMemHostUnregister)(t.pageable); }, kRelaxedOnly,
       [](Things& t) { return CU(cuMemHostRegister)(t.pageable, sizeof t.pageable, 0); },
       [](Things& t) { return CU(cuMemHostUnregister)(t.pageable); }},
      {"cuArrayCreate",
       [](Things& t) {
         const CUDA_ARRAY_DESCRIPTOR shape{.Width = 8, .Height = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
         return CU(cuArrayCreate)(&t.array, &shape);
       },
       kRelaxedOnly, nullptr,
       [](Things& t) { return t.array != nullptr ? CU(cuArrayDestroy)(t.array) : CUDA_SUCCESS; }},
      {"cuMemAllocAsync in another stream", [](Things& t) { return CU(cuMemAllocAsync)(&t.pointer, 64, t.other); },
       kRelaxedOnly, nullptr, kFreeMemory},
      {"cuMemFreeAsync in another stream",
       [](Things& t) {
         const CUresult result = CU(cuMemFreeAsync)(t.pointer, t.other);
         if (result == CUDA_SUCCESS) t.pointer = 0;
         return result;
       },
       kRelaxedOnly, [](Things& t) { return CU(cuMemAllocAsync)(&t.pointer, 64, t.other); }, kFreeMemory},
      {"cuMemPoolCreate",
       [](Things& t) {
         CUmemPoolProps props{};
         props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
         props.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = t.device};
         return CU(cuMemPoolCreate)(&t.made_pool, &props);
       },
       kRelaxedOnly, nullptr,
       [](Things& t) { return t.made_pool != nullptr ? CU(cuMemPoolDestroy)(t.made_pool) : CUDA_SUCCESS; }},
      {"cuMemPoolTrimTo", [](Things& t) { return CU(cuMemPoolTrimTo)(t.pool, 0); }, kRelaxedOnly},
      {"cuDeviceGraphMemTrim", [](Things& t) { return CU(cuDeviceGraphMemTrim)(t.device); }, kFine},
      {"cuMemGetInfo",
       [](Things&) {
         size_t free = 0, total = 0;
         return CU(cuMemGetInfo)(&free, &total);
       },
       kFine},
      {"cuPointerGetAttribute",
       [](Things& t) {
         unsigned type = 0;
         return CU(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, t.memory);
       },
       kFine},
  };
}

std::vector<Row> waiting_rows() {
  return {
      {"cuCtxSynchronize", [](Things&) { return CU(cuCtxSynchronize)(); }, kNever},
      {"cuStreamSynchronize of it", [](Things& t) { return CU(cuStreamSynchronize)(t.captured); }, kNever},
      {"cuStreamQuery of it", [](Things& t) { return CU(cuStreamQuery)(t.captured); }, kNever},
      {"cuStreamSynchronize of another", [](Things& t) { return CU(cuStreamSynchronize)(t.other); }, kRelaxedOnly},
      {"cuStreamQuery of another", [](Things& t) { return CU(cuStreamQuery)(t.other); }, kRelaxedOnly},
      {"cuEventSynchronize", [](Things& t) { return CU(cuEventSynchronize)(t.past); }, kRelaxedOnly},
      {"cuEventQuery", [](Things& t) { return CU(cuEventQuery)(t.past); }, kRelaxedOnly},
      {"cuEventElapsedTime",
       [](Things& t) {
         float time = 0;
         return CU(cuEventElapsedTime)(&time, t.past, t.past);
       },
       kFine},
      {"cuMemcpyHtoD", [](Things& t) { return CU(cuMemcpyHtoD)(t.memory, t.pageable, 64); }, kFine},
      {"cuMemcpyDtoH", [](Things& t) { return CU(cuMemcpyDtoH)(t.pageable, t.memory, 64); }, kFine},
      {"cuMemcpyDtoD", [](Things& t) { return CU(cuMemcpyDtoD)(t.memory, t.memory + 128, 64); }, kFine},
      {"cuMemsetD8", [](Things& t) { return CU(cuMemsetD8)(t.memory, 0, 64); }, kFine},
  };
}

std::vector<Row> stream_rows() {
  return {
      {"cuLaunchKernel in another stream", [](Things& t) { return launch(t.kernel, 1, 1, t.other); }, kFine},
      {"cuMemcpyAsync in another stream",
       [](Things& t) { return CU(cuMemcpyHtoDAsync)(t.memory, t.pinned, 16, t.other); }, kFine},
      {"cuMemcpyAsync of pageable memory in another stream",
       [](Things& t) { return CU(cuMemcpyHtoDAsync)(t.memory, t.pageable, 16, t.other); }, kFine},
      {"cuLaunchHostFunc in another stream",
       [](Things& t) { return CU(cuLaunchHostFunc)(t.other, [](void*) {}, nullptr); }, kFine},
      {"cuEventRecord in another stream", [](Things& t) { return CU(cuEventRecord)(t.past, t.other); }, kFine},
      {"cuStreamWaitEvent in another stream", [](Things& t) { return CU(cuStreamWaitEvent)(t.other, t.past, 0); },
       kFine},
      {"cuGraphLaunch in another stream", [](Things& t) { return CU(cuGraphLaunch)(t.exec, t.other); }, kFine},
      {"cuGraphUpload in another stream", [](Things& t) { return CU(cuGraphUpload)(t.exec, t.other); }, kFine},
      {"cuLaunchKernel in the legacy stream", [](Things& t) { return launch(t.kernel, 1, 1, CU_STREAM_LEGACY); },
       kFine},
      {"cuStreamGetCtx of it",
       [](Things& t) {
         CUcontext context = nullptr;
         return CU(cuStreamGetCtx)(t.captured, &context);
       },
       kFine},
      {"cuStreamGetPriority of it",
       [](Things& t) {
         int priority = 0;
         return CU(cuStreamGetPriority)(t.captured, &priority);
       },
       kFine},
  };
}

/// With its code in the context, which unloading takes away.
CUresult load_library(Things& t) {
  CUresult result = CU(cuLibraryLoadData)(&t.library, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0);
  CUmodule module = nullptr;
  if (result == CUDA_SUCCESS) result = CU(cuLibraryGetModule)(&module, t.library);
  return result;
}

std::vector<Row> object_rows() {
  return {
      {"cuStreamCreate", [](Things& t) { return CU(cuStreamCreate)(&t.stream, CU_STREAM_NON_BLOCKING); }, kFine,
       nullptr, [](Things& t) { return t.stream != nullptr ? CU(cuStreamDestroy)(t.stream) : CUDA_SUCCESS; }},
      {"cuStreamDestroy", [](Things& t) { return CU(cuStreamDestroy)(t.stream); }, kFine,
       [](Things& t) { return CU(cuStreamCreate)(&t.stream, CU_STREAM_NON_BLOCKING); }},
      {"cuEventCreate", [](Things& t) { return CU(cuEventCreate)(&t.event, 0); }, kFine, nullptr,
       [](Things& t) { return t.event != nullptr ? CU(cuEventDestroy)(t.event) : CUDA_SUCCESS; }},
      {"cuEventDestroy", [](Things& t) { return CU(cuEventDestroy)(t.event); }, kFine,
       [](Things& t) { return CU(cuEventCreate)(&t.event, 0); }},
      {"cuModuleLoadData", [](Things& t) { return CU(cuModuleLoadData)(&t.module, kKernels); }, kFine, nullptr,
       [](Things& t) { return t.module != nullptr ? CU(cuModuleUnload)(t.module) : CUDA_SUCCESS; }},
      {"cuModuleUnload",
       [](Things& t) {
         const CUresult result = CU(cuModuleUnload)(t.module);
         if (result == CUDA_SUCCESS) t.module = nullptr;
         return result;
       },
       kRelaxedOnly, [](Things& t) { return CU(cuModuleLoadData)(&t.module, kKernels); },
       [](Things& t) { return t.module != nullptr ? CU(cuModuleUnload)(t.module) : CUDA_SUCCESS; }},
      {"cuLibraryUnload",
       [](Things& t) {
         const CUresult result = CU(cuLibraryUnload)(t.library);
         if (result == CUDA_SUCCESS) t.library = nullptr;
         return result;
       },
       kRelaxedOnly, &load_library,
       [](Things& t) { return t.library != nullptr ? CU(cuLibraryUnload)(t.library) : CUDA_SUCCESS; }},
      {"cuFuncSetAttribute",
       [](Things& t) {
         return CU(cuFuncSetAttribute)(t.kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024);
       },
       kFine},
      {"cuCtxSetLimit", [](Things&) { return CU(cuCtxSetLimit)(CU_LIMIT_PRINTF_FIFO_SIZE, 1 << 20); }, kRelaxedOnly},
      {"cuGraphInstantiate", [](Things& t) { return CU(cuGraphInstantiateWithFlags)(&t.made_exec, t.graph, 0); },
       kRelaxedOnly, nullptr,
       [](Things& t) { return t.made_exec != nullptr ? CU(cuGraphExecDestroy)(t.made_exec) : CUDA_SUCCESS; }},
      {"cuGraphCreate", [](Things& t) { return CU(cuGraphCreate)(&t.made_graph, 0); }, kFine, nullptr,
       [](Things& t) { return t.made_graph != nullptr ? CU(cuGraphDestroy)(t.made_graph) : CUDA_SUCCESS; }},
  };
}

std::vector<Row> rows() {
  std::vector<Row> all;
  for (const auto& some : {memory_rows(), waiting_rows(), stream_rows(), object_rows()})
    all.insert(all.end(), some.begin(), some.end());
  return all;
}

}  // namespace
}  // namespace conformance
