// nvJitLink's machine code, with the PTX of what went into it: the PTX inputs themselves, those that came with machine
// code, and for LTO-IR what a second link makes of it.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <initializer_list>
#include <mutex>
#include <sstream>
#include <unordered_map>

#include "softgpu/forward/image.hpp"
#include "softgpu/forward/interpose.hpp"

namespace softgpu::forward {
namespace {

using Handle = void*;
enum InputType : int { kCubin = 1, kPtx = 2, kLtoIr = 3, kAny = 10 };

// Of nvJitLinkResult.
constexpr int kSuccess = 0, kInvalidInput = 3, kInternalError = 6;

constexpr const char* kVersions[] = {
#define SOFTGPU_NVJITLINK_VERSION(suffix) #suffix,
#include "softgpu/forward/nvjitlink_versions.def"
};

// The same function has a plain name, and one with the release in it, which programs are linked to.
void* symbol(Library library, const std::string& name) {
  if (void* function = library.symbol(name.c_str())) return function;
  for (const char* version : kVersions) {
    if (void* function = library.symbol(("__" + name + version).c_str())) return function;
  }
  return nullptr;
}

template <typename... Arguments>
int call(Library library, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(symbol(library, name));
  return function ? function(arguments...) : kInternalError;
}

// ---- What is remembered of a link ----

struct Input {
  int type;
  std::string data;
  std::string name;
};

struct Link {
  std::vector<std::string> options;
  std::vector<std::string> ptx;
  std::vector<Input> ltoir;  // inputs that have some
  bool is_complete = true;   // all of the code is there as PTX or LTO-IR
  std::string image;         // the result, once it was asked for

  unsigned architecture() const { return number_in("arch="); }

  // The number in an option such as -arch=sm_90 or -maxrregcount=32; 0 without it.
  unsigned number_in(const char* name) const {
    unsigned number = 0;
    for (const std::string& option : options) {
      if (const auto place = option.find(name); place != std::string::npos) {
        const auto digits = option.find_first_of("0123456789", place);
        if (digits != std::string::npos) std::from_chars(&option[digits], option.data() + option.size(), number);
      }
    }
    return number;
  }

  void remember(int type, std::string_view data, const char* name) {
    Parts parts = parts_of(data, architecture());
    std::move(parts.ptx.begin(), parts.ptx.end(), std::back_inserter(ptx));
    if (parts.has_ltoir) ltoir.push_back({type, std::string(data), name ? name : ""});
    is_complete = is_complete && parts.is_complete;
  }
};

// Handles belong to one thread each, so only the list itself is guarded. It is never destroyed: programs link at exit,
// too.
class Links {
 public:
  void add(Handle handle, Link link) {
    std::lock_guard lock(mutex_);
    links_[handle] = std::move(link);
  }
  void remove(Handle handle) {
    std::lock_guard lock(mutex_);
    links_.erase(handle);
  }
  /// Null for a handle that was made before we could see it.
  Link* find(Handle handle) {
    std::lock_guard lock(mutex_);
    const auto found = links_.find(handle);
    return found == links_.end() ? nullptr : &found->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<Handle, Link> links_;
};

Links& links() {
  static Links& all = *new Links;
  return all;
}

// ---- The second link ----

// What another link gives, with the options of the first and more, of these inputs: the bytes that a pair of functions
// such as nvJitLinkGetLinkedPtxSize and nvJitLinkGetLinkedPtx hands out. Empty when it fails.
std::string link_again(Library library, const Link& link, std::initializer_list<const char*> more_options,
                       const std::vector<Input>& inputs, const char* get_size, const char* get_bytes) {
  std::vector<const char*> options;
  for (const std::string& option : link.options) options.push_back(option.c_str());
  for (const char* option : more_options) {
    if (std::find(link.options.begin(), link.options.end(), option) == link.options.end()) options.push_back(option);
  }
  Handle handle = nullptr;
  const auto count = static_cast<std::uint32_t>(options.size());
  if (call(library, "nvJitLinkCreate", &handle, count, options.data()) != kSuccess) return {};
  int code = kSuccess;
  for (const Input& input : inputs) {
    const void* data = input.data.data();
    if (code == kSuccess) {
      code = call(library, "nvJitLinkAddData", handle, input.type, data, input.data.size(), input.name.c_str());
    }
  }
  std::size_t size = 0;
  std::string bytes;
  if (code == kSuccess) code = call(library, "nvJitLinkComplete", handle);
  if (code == kSuccess) code = call(library, get_size, handle, &size);
  if (code == kSuccess) {
    bytes.resize(size);
    code = call(library, get_bytes, handle, static_cast<void*>(bytes.data()));
  }
  call(library, "nvJitLinkDestroy", &handle);
  return code == kSuccess ? bytes : std::string();
}

// The PTX that link-time optimisation makes of the inputs with LTO-IR; empty when it fails.
std::string optimised_ptx(Library library, const Link& link) {
  std::string ptx =
      link_again(library, link, {"-lto", "-ptx"}, link.ltoir, "nvJitLinkGetLinkedPtxSize", "nvJitLinkGetLinkedPtx");
  ptx.resize(std::min(ptx.find('\0'), ptx.size()));
  return ptx;
}

// All modules of a link of PTX and LTO-IR. With -ptx the linker takes LTO-IR only, and drops what that doesn't use
// itself. So both are linked to machine code that keeps the PTX it was made from. Empty when it fails.
std::vector<std::string> mixed_ptx(Library library, const Link& link) {
  std::vector<Input> inputs = link.ltoir;
  for (const std::string& text : link.ptx) inputs.push_back({kPtx, text + '\0', "ptx"});
  std::vector<std::string> modules = kept_ptx(link_again(library, link, {"-lto", "-lineinfo"}, inputs,
                                                         "nvJitLinkGetLinkedCubinSize", "nvJitLinkGetLinkedCubin"));
  if (modules.size() <= link.ptx.size()) modules.clear();
  return modules;
}

// All code of a link, as PTX; empty when some of it is there as machine code alone.
std::vector<std::string> modules_of(Library library, const Link& link) {
  if (!link.is_complete) return {};
  if (link.ltoir.empty()) return link.ptx;
  if (!link.ptx.empty()) {
    if (std::vector<std::string> modules = mixed_ptx(library, link); !modules.empty()) return modules;
  }
  std::vector<std::string> modules = link.ptx;
  modules.push_back(optimised_ptx(library, link));
  return modules.back().empty() ? std::vector<std::string>() : modules;
}

// The same with the options that concern the code.
std::vector<std::string> ptx_of(Library library, const Link& link) {
  std::vector<std::string> modules = modules_of(library, link);
  if (const unsigned registers = link.number_in("-maxrregcount=")) {
    for (std::string& module : modules) module = with_register_limit(std::move(module), registers);
  }
  return modules;
}

// The image for a link that is complete, made when it is first asked for.
int get_image(Library library, Handle handle, Link& link) {
  if (!link.image.empty()) return kSuccess;
  std::size_t size = 0;
  int code = call(library, "nvJitLinkGetLinkedCubinSize", handle, &size);
  if (code != kSuccess) return code;
  std::string cubin(size, '\0');
  code = call(library, "nvJitLinkGetLinkedCubin", handle, static_cast<void*>(cubin.data()));
  if (code == kSuccess) link.image = with_ptx(std::move(cubin), ptx_of(library, link));
  return code;
}

// ---- The functions ----

int create(Library library, Handle* handle, std::uint32_t count, const char** options) {
  const int code = call(library, "nvJitLinkCreate", handle, count, options);
  if (code == kSuccess) links().add(*handle, {.options = {options, options + count}});
  return code;
}

int destroy(Library library, Handle* handle) {
  if (handle) links().remove(*handle);
  return call(library, "nvJitLinkDestroy", handle);
}

int add_data(Library library, Handle handle, int type, const void* data, std::size_t size, const char* name) {
  Link* link = links().find(handle);
  if (!link || !data) return call(library, "nvJitLinkAddData", handle, type, data, size, name);
  const std::string_view input(static_cast<const char*>(data), size);
  const std::string_view passed = type == kCubin ? bare_cubin(input) : input;
  const void* start = passed.data();
  const int code = call(library, "nvJitLinkAddData", handle, type, start, passed.size(), name);
  if (code == kSuccess) link->remember(type, input, name);
  return code;
}

int add_file(Library library, Handle handle, int type, const char* name) {
  Link* link = links().find(handle);
  std::ifstream file(name ? name : "", std::ios::binary);
  std::stringstream contents;
  contents << file.rdbuf();
  const std::string data = std::move(contents).str();
  if (!link || data.empty()) return call(library, "nvJitLinkAddFile", handle, type, name);
  if (type == kCubin && bare_cubin(data).size() != data.size()) {
    return add_data(library, handle, type, data.data(), data.size(), name);
  }
  const int code = call(library, "nvJitLinkAddFile", handle, type, name);
  if (code == kSuccess) link->remember(type, data, name);
  return code;
}

int get_cubin_size(Library library, Handle handle, std::size_t* size) {
  Link* link = links().find(handle);
  if (!link) return call(library, "nvJitLinkGetLinkedCubinSize", handle, size);
  if (!size) return kInvalidInput;
  const int code = get_image(library, handle, *link);
  *size = link->image.size();
  return code;
}

int get_cubin(Library library, Handle handle, void* bytes) {
  Link* link = links().find(handle);
  if (!link) return call(library, "nvJitLinkGetLinkedCubin", handle, bytes);
  if (!bytes) return kInvalidInput;
  const int code = get_image(library, handle, *link);
  if (code == kSuccess) std::memcpy(bytes, link->image.data(), link->image.size());
  return code;
}

constexpr Row rows[] = {
    {"nvJitLinkCreate", Copies<create>::at},
    {"nvJitLinkDestroy", Copies<destroy>::at},
    {"nvJitLinkAddData", Copies<add_data>::at},
    {"nvJitLinkAddFile", Copies<add_file>::at},
    {"nvJitLinkGetLinkedCubinSize", Copies<get_cubin_size>::at},
    {"nvJitLinkGetLinkedCubin", Copies<get_cubin>::at},
};

// "__nvJitLinkCreate_13_0" is nvJitLinkCreate.
std::string_view without_version(std::string_view name) {
  if (!name.starts_with("__nvJitLink")) return name;
  const std::size_t end = name.find('_', 2);
  return name.substr(2, end == std::string_view::npos ? end : end - 2);
}

}  // namespace

const Row* nvjitlink_row(std::string_view name) {
  const std::string_view plain = without_version(name);
  const auto* row =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& known) { return known.name == plain; });
  return row == std::end(rows) ? nullptr : row;
}

#define LINKED_LIBRARY Library::linked_to(__builtin_return_address(0))

SOFTGPU_EXPORT int nvJitLinkCreate(Handle* handle, std::uint32_t count, const char** options) {
  return create(LINKED_LIBRARY, handle, count, options);
}
SOFTGPU_EXPORT int nvJitLinkDestroy(Handle* handle) { return destroy(LINKED_LIBRARY, handle); }
SOFTGPU_EXPORT int nvJitLinkAddData(Handle handle, int type, const void* data, std::size_t size, const char* name) {
  return add_data(LINKED_LIBRARY, handle, type, data, size, name);
}
SOFTGPU_EXPORT int nvJitLinkAddFile(Handle handle, int type, const char* name) {
  return add_file(LINKED_LIBRARY, handle, type, name);
}
SOFTGPU_EXPORT int nvJitLinkGetLinkedCubinSize(Handle handle, std::size_t* size) {
  return get_cubin_size(LINKED_LIBRARY, handle, size);
}
SOFTGPU_EXPORT int nvJitLinkGetLinkedCubin(Handle handle, void* bytes) {
  return get_cubin(LINKED_LIBRARY, handle, bytes);
}

// By the names that programs are linked to.
#define SOFTGPU_NVJITLINK_VERSION(version)                                                                             \
  SOFTGPU_EXPORT                                                                                                       \
  __attribute__((alias("nvJitLinkCreate"))) int __nvJitLinkCreate##version(Handle*, std::uint32_t, const char**);      \
  SOFTGPU_EXPORT __attribute__((alias("nvJitLinkDestroy"))) int __nvJitLinkDestroy##version(Handle*);                  \
  SOFTGPU_EXPORT __attribute__((alias("nvJitLinkAddData"))) int __nvJitLinkAddData##version(Handle, int, const void*,  \
                                                                                            std::size_t, const char*); \
  SOFTGPU_EXPORT __attribute__((alias("nvJitLinkAddFile"))) int __nvJitLinkAddFile##version(Handle, int, const char*); \
  SOFTGPU_EXPORT __attribute__((alias("nvJitLinkGetLinkedCubinSize"))) int __nvJitLinkGetLinkedCubinSize##version(     \
      Handle, std::size_t*);                                                                                           \
  SOFTGPU_EXPORT                                                                                                       \
  __attribute__((alias("nvJitLinkGetLinkedCubin"))) int __nvJitLinkGetLinkedCubin##version(Handle, void*);
#include "softgpu/forward/nvjitlink_versions.def"

}  // namespace softgpu::forward
