// Nothing here may own anything: a bad pointer of the kernel leaves these functions without unwinding.
#include "softgpu/exec/device_printf.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
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

// %[flags][width][.precision][size]type. The type is 0 where the format ends inside the conversion, or where it is none
// that CUDA knows: neither sizes other than these, nor a precision that is an argument.
enum class Size : std::uint8_t { plain, h, hh, l };
struct Conversion {
  std::array<char, 8> flags{};
  std::int32_t width = 0;       // negative: to the left
  std::int32_t precision = -1;  // none
  Size size = Size::plain;
  char type = 0;
};

bool is_one_of(char c, const char* characters) { return c != 0 && std::strchr(characters, c) != nullptr; }

const char* read_flags(const char* at, Conversion& conversion) {
  std::size_t count = 0;
  for (; is_one_of(*at, "-+ #0"); ++at)
    if (count + 1 < conversion.flags.size() && std::strchr(conversion.flags.data(), *at) == nullptr)
      conversion.flags[count++] = *at;
  return at;
}

const char* read_number(const char* at, Arguments& arguments, std::int32_t& number) {
  constexpr std::int32_t kLargest = 1 << 20;
  number = 0;
  if (*at == '*') {
    number = std::clamp(arguments.next<std::int32_t>(), -kLargest, kLargest);
    return at + 1;
  }
  for (; is_one_of(*at, "0123456789"); ++at) number = std::min(number * 10 + (*at - '0'), kLargest);
  return at;
}

// False if there is no such size.
bool read_size(const char*& at, Size& size) {
  struct Row {
    std::string_view text;
    Size size;
  };
  constexpr Row kSizes[] = {{"", Size::plain}, {"h", Size::h}, {"hh", Size::hh}, {"l", Size::l}, {"ll", Size::l}};
  const char* const begin = at;
  while (is_one_of(*at, "hljztL")) ++at;
  const std::string_view text(begin, static_cast<std::size_t>(at - begin));
  const auto* const found =
      std::find_if(std::begin(kSizes), std::end(kSizes), [&](const Row& row) { return row.text == text; });
  if (found == std::end(kSizes)) return false;
  size = found->size;
  return true;
}

const char* read_conversion(const char* at, Arguments& arguments, Conversion& conversion) {
  at = read_flags(at, conversion);
  at = read_number(at, arguments, conversion.width);
  bool is_known = true;
  if (at[0] == '.' && at[1] == '*') {
    is_known = false;
    at += 2;
  } else if (*at == '.') {
    at = read_number(at + 1, arguments, conversion.precision);
  }
  is_known &= read_size(at, conversion.size);
  if (is_known) conversion.type = *at;
  return *at ? at + 1 : at;
}

// As one that the host's printf takes with a value of known type.
template <typename T>
void append(PrintedText& text, const Conversion& conversion, const char* size, T value) {
  char format[32];
  std::snprintf(format, sizeof format, "%%%s*.*%s%c", conversion.flags.data(), size, conversion.type);
  const int length = std::snprintf(nullptr, 0, format, conversion.width, conversion.precision, value);
  if (length <= 0) return;
  const std::size_t bytes = static_cast<std::size_t>(length) + 1;
  char* const space = text.space(bytes);
  if (space == nullptr) return;
  std::snprintf(space, bytes, format, conversion.width, conversion.precision, value);
  text.grow(bytes - 1);
}

// Not by the host's printf, which a bad pointer would leave in the middle.
void append_string(PrintedText& text, const Conversion& conversion, const char* string) {
  constexpr const char* kNull = "(null)";  // all of it, or nothing
  if (string == nullptr)
    string = conversion.precision < 0 || conversion.precision >= static_cast<int>(std::strlen(kNull)) ? kNull : "";
  const std::size_t length =
      conversion.precision < 0 ? std::strlen(string) : strnlen(string, static_cast<std::size_t>(conversion.precision));
  const bool to_the_left = conversion.width < 0 || std::strchr(conversion.flags.data(), '-') != nullptr;
  const auto width = static_cast<std::size_t>(std::abs(conversion.width));
  const std::size_t filling = width > length ? width - length : 0;
  if (!to_the_left) text.append(' ', filling);
  text.append(string, length);
  if (to_the_left) text.append(' ', filling);
}

const char* prefix_of(Size size) { return size == Size::h ? "h" : size == Size::hh ? "hh" : ""; }

void append_conversion(PrintedText& text, const Conversion& conversion, Arguments& arguments) {
  switch (conversion.type) {
    case 'd':
    case 'i':
    case 'o':
    case 'u':
    case 'x':
    case 'X':
      if (conversion.size == Size::l) return append(text, conversion, "ll", arguments.next<long long>());
      return append(text, conversion, prefix_of(conversion.size), arguments.next<int>());
    case 'a':
    case 'A':
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G': return append(text, conversion, "", arguments.next<double>());
    default: break;
  }
  Conversion plain = conversion;
  plain.precision = -1;
  if (conversion.type == 'c') return append(text, plain, "", arguments.next<int>());
  if (conversion.type == 'p') return append(text, conversion, "", arguments.next<void*>());
  if (conversion.type == 's') return append_string(text, conversion, arguments.next<const char*>());
}

}  // namespace

PrintedText::~PrintedText() { std::free(bytes_); }

char* PrintedText::space(std::size_t bytes) {
  if (bytes > capacity_ - size_) {
    const std::size_t enough = std::max(size_ + bytes, 2 * capacity_);
    auto* const moved = static_cast<char*>(std::realloc(bytes_, enough));
    if (moved == nullptr) return nullptr;
    bytes_ = moved;
    capacity_ = enough;
  }
  return bytes_ + size_;
}

void PrintedText::append(const char* text, std::size_t bytes) {
  char* const place = space(bytes);
  if (place == nullptr) return;
  std::memcpy(place, text, bytes);
  grow(bytes);
}

void PrintedText::append(char filling, std::size_t count) {
  char* const place = space(count);
  if (place == nullptr) return;
  std::memset(place, filling, count);
  grow(count);
}

int format_device_printf(PrintedText& text, const char* format, const std::byte* buffer) {
  Arguments arguments(buffer);
  while (*format) {
    const char* const percent = std::strchr(format, '%');
    if (!percent) {
      text.append(format, std::strlen(format));
      break;
    }
    text.append(format, static_cast<std::size_t>(percent - format));
    Conversion conversion;
    const Arguments before = arguments;
    format = read_conversion(percent + 1, arguments, conversion);
    if (percent[1] == '%') {
      text.append('%', 1);
    } else if (is_one_of(conversion.type, "diouxXcaAeEfFgGps")) {
      append_conversion(text, conversion, arguments);
    } else {  // not a conversion: as it stands
      text.append(percent, static_cast<std::size_t>(format - percent));
      arguments = before;
    }
  }
  return arguments.used();
}

}  // namespace softgpu::exec
