// Object code out of images that come from elsewhere, and into files.
#include <cuprum/error.hpp>
#include <cuprum/object_code.hpp>
#include <optional>

#include "core/base/closable.hpp"
#include "core/base/deferred.hpp"
#include "core/code/code_bytes.hpp"
#include "core/code/code_image.hpp"
#include "core/code/object_code_resource.hpp"
#include "core/code/portable_code.hpp"
#include "support/read_file.hpp"
#include "support/text.hpp"
#include "support/write_file.hpp"

namespace cuprum::inline CUPRUM_ABI {

using detail::Access;
using detail::Code;
using detail::ObjectCodeResource;
using device_image::Image;
using device_image::ImageKind;
using device_image::starts_like_fatbin_wrapper;
using support::text;

namespace {

// Target and ImageKind name the same kinds, in the same order; these are the functions that take them.
constexpr const char* makers[] = {"from_ptx", "from_cubin", "from_ltoir", "from_fatbin", "from_object", "from_library"};
static_assert(static_cast<int>(Target::cubin) == static_cast<int>(ImageKind::cubin) &&
              static_cast<int>(Target::ltoir) == static_cast<int>(ImageKind::ltoir) &&
              static_cast<int>(Target::fatbin) == static_cast<int>(ImageKind::fatbin) &&
              static_cast<int>(Target::object) == static_cast<int>(ImageKind::object) &&
              static_cast<int>(Target::library) == static_cast<int>(ImageKind::archive));

Target target_of(const Image& image) { return static_cast<Target>(image.kind); }

void check_kind(const Code& code) {
  const std::optional<Image> image = core::recognized(code);
  const char* const wanted = description(static_cast<ImageKind>(code.type));
  if (!image) throw InvalidArgument(text(core::title(code), " is not ", wanted, ", nor any other code for a device"));
  if (target_of(*image) != code.type) {
    throw InvalidArgument(text(core::title(code), " is ", description(image->kind), ", not ", wanted,
                               ": use ObjectCode::", makers[static_cast<int>(image->kind)]));
  }
  if (image->kind == ImageKind::object && image->parts.empty())
    throw InvalidArgument(text(core::title(code), " is a host object file without device code: compile it with nvcc"));
}

Code code_of(Target type, std::string_view bytes, ObjectCodeOptions options) {
  return {.type = type,
          .name = std::move(options.name),
          .bytes = std::string(bytes),
          .symbol_mapping = std::move(options.symbol_mapping)};
}

ObjectCode make(Code code) { return Access::make_code(core::make_deferrable<ObjectCodeResource>(std::move(code))); }

ObjectCode checked(Code code) {
  check_kind(code);
  return make(std::move(code));
}

ObjectCode from_image(Target type, std::string_view bytes, ObjectCodeOptions options) {
  return checked(code_of(type, bytes, std::move(options)));
}

}  // namespace

ObjectCode ObjectCode::from_ptx(std::string_view code, ObjectCodeOptions options) {
  return from_image(Target::ptx, code, std::move(options));
}

ObjectCode ObjectCode::from_cubin(std::string_view code, ObjectCodeOptions options) {
  return from_image(Target::cubin, code, std::move(options));
}

ObjectCode ObjectCode::from_ltoir(std::string_view code, ObjectCodeOptions options) {
  return from_image(Target::ltoir, code, std::move(options));
}

ObjectCode ObjectCode::from_fatbin(std::string_view code, ObjectCodeOptions options) {
  Code made = code_of(Target::fatbin, code, std::move(options));
  // An address is no part of an image: whoever wrote these bytes could name any.
  if (starts_like_fatbin_wrapper(device_image::bytes_of(code))) {
    throw InvalidArgument(text(core::title(made),
                               " is what a linked program has beside its fatbin, with the fatbin's address in it: pass "
                               "the bytes of the fatbin itself"));
  }
  return checked(std::move(made));
}

ObjectCode ObjectCode::from_object(std::string_view code, ObjectCodeOptions options) {
  return from_image(Target::object, code, std::move(options));
}

ObjectCode ObjectCode::from_library(std::string_view code, ObjectCodeOptions options) {
  return from_image(Target::library, code, std::move(options));
}

ObjectCode ObjectCode::from_file(const std::string& path, ObjectCodeOptions options) {
  if (options.name.empty()) options.name = path;
  Code code = code_of(Target::ptx, support::read_file(path), std::move(options));
  const std::optional<Image> image = core::recognized(code);
  if (image) code.type = target_of(*image);
  return checked(std::move(code));
}

std::string ObjectCode::to_bytes() const { return core::code_to_bytes(Access::keep(*this)->code); }

ObjectCode ObjectCode::from_bytes(std::string_view bytes) {
  std::optional<Code> code = core::code_from_bytes(bytes);
  if (code) return make(*std::move(code));
  throw InvalidArgument(text("ObjectCode::from_bytes: these ", bytes.size(),
                             " bytes are not what to_bytes() of this version of the library gives; for code itself use "
                             "from_cubin, from_ptx or another of that kind"));
}

void ObjectCode::save(const std::string& path) const {
  const Code& code = Access::keep(*this)->code;
  if (code.bytes.empty()) throw WrongState(text(core::title(code), " is empty: there is nothing to save"));
  const std::string fatbin = code.type == Target::cubin ? core::portable_fatbin(code) : std::string();
  support::write_file(path, fatbin.empty() ? code.bytes : fatbin);
}

}  // namespace cuprum::inline CUPRUM_ABI
