// printf() of device code: formatting from the packed argument buffer that vprintf gets.
#pragma once

#include <cstddef>
#include <string_view>

namespace softgpu::exec {

// Text that is put together from the kernel's strings. Reading those may leave the kernel at any point (leave_kernel),
// so it is whole at every time and owned by nobody who is left: a thread keeps one for all its kernels.
class PrintedText {
 public:
  PrintedText() = default;
  ~PrintedText();
  PrintedText(const PrintedText&) = delete;
  PrintedText& operator=(const PrintedText&) = delete;

  std::string_view view() const { return {bytes_, size_}; }
  void clear() { size_ = 0; }
  // `text` may be the kernel's. What there is no memory for is left out.
  void append(const char* text, std::size_t bytes);
  void append(char filling, std::size_t count);
  // Space for `bytes` more, to be filled and counted by grow(); null when there is no memory.
  char* space(std::size_t bytes);
  void grow(std::size_t bytes) { size_ += bytes; }

 private:
  char* bytes_ = nullptr;
  std::size_t size_ = 0, capacity_ = 0;
};

// Appends to `text` what CUDA prints. Arguments lie one after the other, each at its natural alignment: 4 bytes for
// int and smaller, 8 for double, long and pointers. Returns the number of arguments used, as device printf does.
int format_device_printf(PrintedText& text, const char* format, const std::byte* arguments);

}  // namespace softgpu::exec
