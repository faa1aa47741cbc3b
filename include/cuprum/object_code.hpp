// Object code: compiled kernels, loaded when the first one is asked for.
//
//   ObjectCode code = ObjectCode::from_ptx(text);
//   Kernel kernel = code.get_kernel("scale");
#pragma once

#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_map>

namespace cuprum {

class Kernel;

/// What a compilation or a link yields, and what object code is made of.
enum class Target {
  ptx,      ///< NVIDIA's portable assembly, compiled by the driver when it is loaded
  cubin,    ///< machine code for one architecture
  ltoir,    ///< input of the link-time optimiser
  fatbin,   ///< several of these in one image, by architecture
  object,   ///< a host object file that carries device code: input of the linker
  library,  ///< an archive of such files: input of the linker
  pch,      ///< no code but a header that NVRTC has compiled
};

struct ObjectCodeOptions {
  std::string name = {};  ///< for messages
  std::unordered_map<std::string, std::string> symbol_mapping =
      {};  ///< names that get_kernel() takes -> symbols in the code
};

/// A cheap handle: copies share the code, which is unloaded when the last of them and of its kernels goes. Threads may
/// share it.
class CUPRUM_API ObjectCode {
 public:
  static ObjectCode from_ptx(std::string_view code, ObjectCodeOptions options = {});
  static ObjectCode from_cubin(std::string_view code, ObjectCodeOptions options = {});

  /// The kernel of that name: a name expression of the compilation, or the symbol (write extern "C" to have plain
  /// ones). The first call loads the code; a cubin that the device can't run is replaced by the PTX it was made from,
  /// if that is known. Throws InvalidArgument that lists the names there are, CompileError with the driver's log for
  /// bad PTX.
  Kernel get_kernel(std::string_view name) const;

  /// The bytes of the code.
  std::string_view code() const;
  Target code_type() const;
  const std::string& name() const;
  const std::unordered_map<std::string, std::string>& symbol_mapping() const;
  /// Loads the code if it isn't yet.
  CUlib_st* handle() const;

  friend bool operator==(const ObjectCode& a, const ObjectCode& b) { return a.resource_ == b.resource_; }

 private:
  friend struct detail::Access;
  explicit ObjectCode(std::shared_ptr<detail::ObjectCodeResource> resource) : resource_(std::move(resource)) {}
  std::shared_ptr<detail::ObjectCodeResource> resource_;
};

CUPRUM_API std::ostream& operator<<(std::ostream& out, Target target);

}  // namespace cuprum
