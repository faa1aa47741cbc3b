// Tables of NVRTC, nvJitLink and libNVVM in which chosen calls fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cuprum/cuprum.hpp>
#include <cuprum/nvjitlink.hpp>
#include <cuprum/nvrtc.hpp>
#include <cuprum/nvvm.hpp>
#include <string_view>

#include "api/faults.hpp"

namespace cuprum::tests {
namespace {

int compiler_objects = 0;  ///< programs and linkers that were made and not destroyed

int change_of_objects(std::string_view name) {
  if (name.ends_with("CreateProgram") || name == "nvJitLinkCreate") return 1;
  return name.ends_with("DestroyProgram") || name == "nvJitLinkDestroy" ? -1 : 0;
}

/// Functions that describe codes have no code to fail with, and failing what destroys would leak.
template <typename Result>
bool can_fail(std::string_view name) {
  return std::is_enum_v<Result> && change_of_objects(name) != -1;
}

/// `Real` has the table that is called in the end, and the names of its slots.
template <typename Real, auto Entry, typename Function>
struct CompilerCall;

template <typename Real, auto Entry, typename Result, typename... Arguments>
struct CompilerCall<Real, Entry, Result (*)(Arguments...)> {
  static Result call(Arguments... arguments) {
    const auto& slot = Real::table->*Entry;
    const char* const name = Real::names[slot.index];
    if constexpr (std::is_enum_v<Result>) {
      if (can_fail<Result>(name)) {
        if (const std::optional<int> code = fault_at(FaultSort::compilers, name)) return static_cast<Result>(*code);
      }
    }
    const OutsideTheLibrary outside;
    const Result result = slot.function(arguments...);
    if constexpr (std::is_enum_v<Result>) {
      if (result == Result{}) compiler_objects += change_of_objects(name);
    }
    return result;
  }
};

template <typename Real, auto Entry, typename Api>
void wrap_compiler(Api& table) {
  auto& function = (table.*Entry).function;
  if (function) function = CompilerCall<Real, Entry, std::remove_reference_t<decltype(function)>>::call;
}

struct RealNvrtc {
  static inline const nvrtc::Api* table = nullptr;
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) #name,
  static constexpr const char* names[] = {
#include <cuprum/detail/nvrtc_entry_points.def>
  };

  static void wrap(nvrtc::Api& api) {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) wrap_compiler<RealNvrtc, &nvrtc::Api::name>(api);
#include <cuprum/detail/nvrtc_entry_points.def>
  }
};

struct RealNvjitlink {
  static inline const nvjitlink::Api* table = nullptr;
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) #name,
  static constexpr const char* names[] = {
#include <cuprum/detail/nvjitlink_entry_points.def>
  };

  static void wrap(nvjitlink::Api& api) {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) wrap_compiler<RealNvjitlink, &nvjitlink::Api::name>(api);
#include <cuprum/detail/nvjitlink_entry_points.def>
  }
};

struct RealNvvm {
  static inline const nvvm::Api* table = nullptr;
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) #name,
  static constexpr const char* names[] = {
#include <cuprum/detail/nvvm_entry_points.def>
  };

  static void wrap(nvvm::Api& api) {
#define CUPRUM_ENTRY_POINT(name, since, result, parameters) wrap_compiler<RealNvvm, &nvvm::Api::name>(api);
#include <cuprum/detail/nvvm_entry_points.def>
  }
};

/// While it lives, a compiler is called through here. One that is not installed is left alone.
template <typename Real, auto GetApi, auto ReplaceApi>
class WatchedCompiler {
 public:
  WatchedCompiler() : table_(GetApi()) {
    Real::wrap(table_);
    Real::table = &ReplaceApi(table_);
  }
  ~WatchedCompiler() { ReplaceApi(*Real::table); }
  WatchedCompiler(const WatchedCompiler&) = delete;
  WatchedCompiler& operator=(const WatchedCompiler&) = delete;

 private:
  std::remove_cvref_t<decltype(GetApi())> table_;
};

using WatchedNvrtc = WatchedCompiler<RealNvrtc, nvrtc::api, nvrtc::replace_api>;
using WatchedNvjitlink = WatchedCompiler<RealNvjitlink, nvjitlink::api, nvjitlink::replace_api>;
using WatchedNvvm = WatchedCompiler<RealNvvm, nvvm::api, nvvm::replace_api>;

template <typename Compiler>
std::shared_ptr<void> watched_if_there() {
  try {
    return std::make_shared<Compiler>();
  } catch (const NotSupported&) {
    return nullptr;
  }
}

std::string words_for(const Fault& fault) {
  if (fault.call.starts_with("nvrtc")) {
    return RealNvrtc::table->nvrtcGetErrorString(static_cast<nvrtc::Result>(fault.code));
  }
  if (fault.call.starts_with("nvvm")) {
    return RealNvvm::table->nvvmGetErrorString(static_cast<nvvm::Result>(fault.code));
  }
  return "code " + std::to_string(fault.code);
}

void expect_compiler_error(const Fault& fault) {
  try {
    throw;
  } catch (const LibraryError& error) {
    EXPECT_EQ(error.code(), fault.code) << error.what();
    if (!fault.and_all_after) {
      EXPECT_EQ(error.call(), fault.call);
    }
  } catch (const Error& error) {
    const bool is_compilers = dynamic_cast<const CompileError*>(&error) || dynamic_cast<const LinkError*>(&error);
    EXPECT_TRUE(is_compilers) << error.what();
    if (!fault.and_all_after) {
      EXPECT_THAT(error.what(), ::testing::HasSubstr(words_for(fault))) << "after " << fault.call;
    }
  }
}

}  // namespace

std::shared_ptr<void> watched_compilers() {
  return std::make_shared<std::array<std::shared_ptr<void>, 3>>(std::array{
      watched_if_there<WatchedNvrtc>(), watched_if_there<WatchedNvjitlink>(), watched_if_there<WatchedNvvm>()});
}

int fail_each_compiler_call(const std::function<void()>& scenario,
                            const std::vector<MayBeSwallowed>& may_be_swallowed) {
  scenario();  // what is looked up once
  Faults faults(FaultSort::compilers);
  compiler_objects = 0;
  constexpr std::array codes = {1, 6, 11};  // NVRTC's: out of memory, compilation, internal error
  for (const int code : codes) faults.fail_each(code, true, scenario, expect_compiler_error, may_be_swallowed);
  int thrown = 0;
  for (const int code : codes) {
    thrown = faults.fail_each(code, false, scenario, expect_compiler_error, may_be_swallowed).thrown;
  }
  EXPECT_EQ(compiler_objects, 0) << "programs and linkers that were not destroyed";
  return thrown;
}

}  // namespace cuprum::tests
