#include "driver/fill_api.hpp"

#include "driver_abi/entry_points.hpp"
#include "support/text.hpp"

namespace cuprum::inline CUPRUM_ABI::driver {
namespace {

using driver_abi::CudaVersion;
using support::text;

constexpr int oldest_driver = 12000;  // the first with cuGetProcAddress_v2 and cuLibraryLoadData

class Resolver {
 public:
  Resolver(const support::SharedLibrary& library, const std::string& path) {
    get_ = reinterpret_cast<PFN_cuGetProcAddress_v12000>(library.symbol("cuGetProcAddress_v2"));
    auto get_version = reinterpret_cast<PFN_cuDriverGetVersion_v2020>(library.symbol("cuDriverGetVersion"));
    if (get_version) get_version(&version_);
    if (!get_ || version_ < oldest_driver) {
      throw NotSupported(text(path, " is ",
                              get_version ? text("a driver of CUDA ", CudaVersion{version_}) : "not a CUDA driver",
                              "; CUDA ", CudaVersion{oldest_driver}, " or newer is needed"));
    }
  }

  // A driver that is asked for a version newer than itself may answer with an older function of the same name, whose
  // parameters are different ones. So it isn't asked.
  void* find(const char* name, int version) const {
    if (version > version_) return nullptr;
    void* function = nullptr;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    if (get_(name, &function, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM, &found) != CUDA_SUCCESS) return nullptr;
    return found == CU_GET_PROC_ADDRESS_SUCCESS ? function : nullptr;
  }

 private:
  PFN_cuGetProcAddress_v12000 get_ = nullptr;
  int version_ = 0;
};

}  // namespace

void fill_api(Api& api, const support::SharedLibrary& library, const std::string& path) {
  const Resolver resolver(library, path);
#define CUPRUM_DRIVER_ENTRY_POINT(name, version) \
  api.name.function = reinterpret_cast<PFN_##name##_v##version>(resolver.find(#name, version));
#include <cuprum/detail/driver_entry_points.def>
}

}  // namespace cuprum::inline CUPRUM_ABI::driver
