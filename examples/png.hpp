// Writing a PNG without a library: the pixels are stored as they are, not compressed.
#pragma once

#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

using Pixel = std::array<std::uint8_t, 4>;  // red, green, blue, alpha
using Pixels = std::vector<Pixel>;

inline void append_number(std::string& bytes, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 255);
}

inline std::uint32_t crc_of(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char byte : bytes) {
    crc ^= static_cast<std::uint8_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc;
}

inline std::uint32_t adler_of(const std::string& bytes) {
  std::uint32_t a = 1, b = 0;
  for (const char byte : bytes) {
    a = (a + static_cast<std::uint8_t>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  return b << 16 | a;
}

/// What zlib reads: blocks of at most 65,535 bytes, each with its length.
inline std::string stored(const std::string& bytes) {
  std::string result = "\x78\x01";
  constexpr std::size_t most = 65535;
  for (std::size_t at = 0; at < bytes.size(); at += most) {
    const std::string block = bytes.substr(at, most);
    const auto length = static_cast<std::uint16_t>(block.size()), inverse = static_cast<std::uint16_t>(~length);
    result += at + most >= bytes.size() ? '\1' : '\0';
    for (const std::uint16_t number : {length, inverse}) {
      result += static_cast<char>(number & 255);
      result += static_cast<char>(number >> 8);
    }
    result += block;
  }
  append_number(result, adler_of(bytes));
  return result;
}

inline std::string chunk(const std::string& kind, const std::string& data) {
  std::string result;
  append_number(result, static_cast<std::uint32_t>(data.size()));
  result += kind + data;
  append_number(result, crc_of(kind + data));
  return result;
}

/// OpenGL has the lowest row first, a PNG the highest.
inline void write_png(const char* path, const Pixels& pixels, int width, int height) {
  std::string header, rows;
  append_number(header, static_cast<std::uint32_t>(width));
  append_number(header, static_cast<std::uint32_t>(height));
  header += std::string("\x08\x02\x00\x00\x00", 5);  // eight bits of red, green and blue
  for (int y = height - 1; y >= 0; --y) {
    rows += '\0';
    for (int x = 0; x < width; ++x) {
      const Pixel& pixel =
          pixels[static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)];
      rows.append(pixel.begin(), pixel.begin() + 3);
    }
  }
  std::ofstream(path, std::ios::binary) << "\x89PNG\r\n\x1a\n"
                                        << chunk("IHDR", header) << chunk("IDAT", stored(rows)) << chunk("IEND", "");
}
