// The log of errors.
#include <cstdio>
#include <cstring>

#include "softgpu/api/base/call.hpp"
#include "softgpu/runtime/base/error_log.hpp"

namespace softgpu::api {
namespace {

using runtime::ErrorLog;

// The messages that the iterator has not seen, all without one.
ErrorLog::Dump dump_from(const CUlogIterator* iterator, std::size_t room) {
  return ErrorLog::get().dump(iterator != nullptr ? *iterator : 0, room);
}

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};

}  // namespace
}  // namespace softgpu::api

using namespace softgpu::api;

extern "C" {

CUresult cuLogsRegisterCallback(CUlogsCallback function, void* data, CUlogsCallbackHandle* callback) {
  return call_before_init(__func__, [&] {
    require(function != nullptr, CUDA_ERROR_INVALID_VALUE, "no callback");
    const CUlogsCallbackHandle added = ErrorLog::get().add_callback(function, data);
    if (callback != nullptr) *callback = added;
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
  return call_before_init(__func__, [&] {
    require(ErrorLog::get().remove_callback(callback), CUDA_ERROR_INVALID_VALUE, "no such callback");
  });
}

CUresult cuLogsCurrent(CUlogIterator* iterator, unsigned flags) {
  return call_before_init(__func__, [&] {
    require_pointer(iterator);
    require_no_flags(flags);
    *iterator = ErrorLog::get().end();
  });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned flags) {
  return call_before_init(__func__, [&] {
    require_pointer(path, "no file name");
    require_no_flags(flags);
    const std::unique_ptr<std::FILE, CloseFile> file(std::fopen(path, "we"));
    require(file != nullptr, CUDA_ERROR_INVALID_VALUE, "the file can't be written");
    const ErrorLog::Dump dump = dump_from(iterator, ErrorLog::kKeptBytes);
    std::fputs(dump.text.c_str(), file.get());
    if (iterator != nullptr) *iterator = dump.end;
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned flags) {
  return call_before_init(__func__, [&] {
    require_pointer(buffer, "no buffer");
    require_pointer(size, "no size");
    require_no_flags(flags);
    require(*size != 0, CUDA_ERROR_INVALID_VALUE, "a buffer without room");
    const ErrorLog::Dump dump = dump_from(iterator, *size - 1);
    std::memcpy(buffer, dump.text.c_str(), dump.text.size() + 1);
    *size = dump.text.size();
    require(dump.fits, CUDA_ERROR_INVALID_VALUE, "the buffer is too small for a message");
    if (iterator != nullptr) *iterator = dump.end;
  });
}

}  // extern "C"
