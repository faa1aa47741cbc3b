#include "softgpu/exec/device_printf.hpp"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace softgpu::exec {
namespace {

class Arguments {
 public:
  explicit Arguments(const std::byte* buffer) : buffer_(buffer) {}

  template <typename T>
  T next() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, buffer_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++used_;
    return value;
  }
  int used() const { return used_; }

 private:
  const std::byte* buffer_;
  std::size_t offset_ = 0;
  int used_ = 0;
};

// %[flags][width][.precision][size]type, rebuilt as one that the host's printf takes with a value of known type.
struct Conversion {
  std::string flags_and_width;  // with '*' replaced by its value
  bool is_long = false;
  char type = 0;  // 0: the format ends inside the conversion
};

const char* skip(const char* at, std::string_view characters, std::string& copy) {
  while (*at && characters.find(*at) != std::string_view::npos) copy += *at++;
  return at;
}

const char* read_number(const char* at, Arguments& arguments, std::string& copy) {
  if (*at != '*') return skip(at, "0123456789", copy);
  copy += std::to_string(arguments.next<std::int32_t>());
  return at + 1;
}

const char* read_conversion(const char* at, Arguments& arguments, Conversion& conversion) {
  at = skip(at, "-+ #0", conversion.flags_and_width);
  at = read_number(at, arguments, conversion.flags_and_width);
  if (*at == '.') {
    conversion.flags_and_width += *at++;
    at = read_number(at, arguments, conversion.flags_and_width);
  }
  std::string size;
  at = skip(at, "hljztL", size);
  conversion.is_long = size.find_first_of("ljzt") != std::string::npos;
  conversion.type = *at;
  return *at ? at + 1 : at;
}

template <typename T>
void append(std::string& text, const Conversion& conversion, std::string_view size, T value) {
  const std::string format = "%" + conversion.flags_and_width + std::string(size) + conversion.type;
  const int length = std::snprintf(nullptr, 0, format.c_str(), value);
  if (length <= 0) return;
  const std::size_t old = text.size();
  text.resize(old + static_cast<std::size_t>(length) + 1);
  std::snprintf(text.data() + old, static_cast<std::size_t>(length) + 1, format.c_str(), value);
  text.pop_back();
}

void append_conversion(std::string& text, const Conversion& conversion, Arguments& arguments) {
  switch (conversion.type) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (conversion.is_long) return append(text, conversion, "ll", arguments.next<long long>());
      return append(text, conversion, "", arguments.next<int>());
    case 'c': return append(text, conversion, "", arguments.next<int>());
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return append(text, conversion, "", arguments.next<double>());
    case 'p': return append(text, conversion, "", arguments.next<void*>());
    case 's': {
      const char* string = arguments.next<const char*>();
      return append(text, conversion, "", string ? string : "(null)");
    }
    case '%': text += '%'; return;
    default:  // not a conversion: as it stands
      text += '%' + conversion.flags_and_width;
      if (conversion.type) text += conversion.type;
  }
}

}  // namespace

int format_device_printf(std::string& text, const char* format, const std::byte* buffer) {
  Arguments arguments(buffer);
  while (*format) {
    const char* percent = std::strchr(format, '%');
    if (!percent) {
      text += format;
      break;
    }
    text.append(format, percent);
    Conversion conversion;
    format = read_conversion(percent + 1, arguments, conversion);
    append_conversion(text, conversion, arguments);
  }
  return arguments.used();
}

}  // namespace softgpu::exec
