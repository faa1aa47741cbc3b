// Object code: compiled kernels and variables, loaded when the first one is asked for.
//
//   ObjectCode code = ObjectCode::from_ptx(text);
//   Kernel kernel = code.get_kernel("scale");
//   Buffer counter = code.get_global("counter", sizeof(int));
#pragma once

#include <cstddef>
#include <cuprum/detail/cuda_handles.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/shared.hpp>
#include <iosfwd>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

class Buffer;
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

/// What the bytes of code don't tell.
struct ObjectCodeOptions {
  std::string name = {};  ///< for messages
  std::unordered_map<std::string, std::string> symbol_mapping =
      {};  ///< names that get_kernel() and get_global() take -> symbols in the code
};

/// A cheap handle: copies share the code, which is unloaded when the last of them, of its kernels and of the buffers of
/// its variables goes. Threads may share it.
///
/// PTX, cubins and fatbins can be loaded; LTO-IR, objects and libraries are for the Linker. Loading happens once, at
/// the first call that needs it, and then holds for every device and context.
class CUPRUM_API ObjectCode {
 public:
  /// An empty handle, for a variable that gets its value later; to use it before throws InvalidArgument.
  ObjectCode() = default;

  /// Copies code that is in memory; nothing is loaded yet. Throws InvalidArgument when it is empty, cut off or of
  /// another kind than the function's, which the message names. The structure by which a program that nvcc linked
  /// points to its fatbin is none: pass what it points to.
  static ObjectCode from_cubin(std::string_view code, ObjectCodeOptions options = {});
  /// The same for PTX.
  static ObjectCode from_ptx(std::string_view code, ObjectCodeOptions options = {});
  /// The same for LTO-IR.
  static ObjectCode from_ltoir(std::string_view code, ObjectCodeOptions options = {});
  /// The same for a fatbin.
  static ObjectCode from_fatbin(std::string_view code, ObjectCodeOptions options = {});
  /// The same for an object file of the host's compiler with device code in it.
  static ObjectCode from_object(std::string_view code, ObjectCodeOptions options = {});
  /// The same for an archive of those.
  static ObjectCode from_library(std::string_view code, ObjectCodeOptions options = {});

  /// Reads a file of any of these kinds, which what is in it tells apart. The path is the name unless options have one.
  /// Throws InvalidArgument when it can't be read, is cut off, or is none of them.
  static ObjectCode from_file(const std::string& path, ObjectCodeOptions options = {});

  /// The kernel of that name: a name expression of the compilation, or the symbol (write extern "C" to have plain
  /// ones). A cubin that the device can't run is replaced by the PTX it was made from, if that is known. Throws
  /// InvalidArgument with the names there are when there is no such kernel, and for code that can't be loaded;
  /// CompileError with the driver's log for bad PTX; NotSupported when nothing in the code is for the device.
  Kernel get_kernel(std::string_view name) const;

  /// What get_kernel() takes: the name expressions of the kernels that have one, the symbols of the others. Loads the
  /// code. Throws NotSupported with drivers older than CUDA 12.4, which don't tell.
  std::vector<std::string> kernel_names() const;

  /// A __device__, __constant__ or __managed__ variable as memory of the current device, whose other devices have
  /// variables of their own; the buffer keeps the code loaded. Orders nothing. The name is a symbol, or a name
  /// expression of the compilation, with or without its `&`. Throws InvalidArgument when there is none.
  Buffer get_global(std::string_view name) const;
  /// The same, and InvalidArgument when the variable has not `size` bytes.
  Buffer get_global(std::string_view name, std::size_t size) const;

  /// The code as a module of the context that is current, for interfaces that take no library. Loads the code, which
  /// must be kept as long as the module is used.
  CUmod_st* get_module() const;

  /// Writes a file that from_file() and NVIDIA's tools read: the code as it is, or, for a cubin whose PTX is known, a
  /// fatbin of both, which runs on other devices, too. The symbol mapping is not in it: give it to from_file(). A file
  /// of that name is replaced in one step. Throws InvalidArgument when it can't be written, LinkError when the PTX of
  /// linked code can't be made.
  void save(const std::string& path) const;

  /// All of it as bytes, to be sent to another process or kept: the code, the PTX of the same compilation, the name and
  /// the symbol mapping. NVIDIA's tools read what save() writes, not this. Throws LinkError when the PTX of linked code
  /// can't be made.
  std::string to_bytes() const;

  /// What to_bytes() gave, also in another process. Throws InvalidArgument for other bytes, and those of a version of
  /// the library that wrote them differently.
  static ObjectCode from_bytes(std::string_view bytes);

  /// The bytes of the code.
  std::string_view code() const;
  /// What the bytes are.
  Target code_type() const;
  /// For messages: the program's or linker's, or as ObjectCodeOptions said; may be empty.
  const std::string& name() const;
  /// Name expressions and the symbols that they became; empty for code without.
  const std::unordered_map<std::string, std::string>& symbol_mapping() const;
  /// Loads the code if it isn't yet. Null for an empty handle.
  CUlib_st* handle() const;

  /// Whether both share the code.
  friend bool operator==(const ObjectCode& a, const ObjectCode& b) { return a.resource_ == b.resource_; }

 private:
  friend struct detail::Access;
  friend struct std::hash<ObjectCode>;
  explicit ObjectCode(std::shared_ptr<detail::ObjectCodeResource> resource) : resource_(std::move(resource)) {}
  std::shared_ptr<detail::ObjectCodeResource> resource_;
};

/// Prints cuda.core's words: "ptx", "cubin", "ltoir", "fatbin", "object", "library", "pch".
CUPRUM_API std::ostream& operator<<(std::ostream& out, Target target);

}  // namespace cuprum::inline CUPRUM_ABI

/// By identity, as object code is compared.
template <>
struct std::hash<cuprum::ObjectCode> {
  std::size_t operator()(const cuprum::ObjectCode& code) const noexcept {
    return std::hash<std::shared_ptr<cuprum::detail::ObjectCodeResource>>{}(code.resource_);
  }
};
