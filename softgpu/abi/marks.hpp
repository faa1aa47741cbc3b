// The vocabulary between lower/ and simt/: see marks.def. No LLVM here; simt/ and lower/ turn a Mark's
// signature letters into LLVM types.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace softgpu::abi {

enum class Mark : std::uint8_t {
#define MARK(name, result, arguments, kind, lanes, waiting) name,
#include "softgpu/abi/marks.def"
#undef MARK
};

// The columns of the table.
enum class MarkKind : std::uint8_t { query, clock, warp, block, control, note };
enum class MarkLanes : std::uint8_t { alike, steps, shape, members, apart };
enum class MarkWaiting : std::uint8_t { nobody, threads, gangs };

// Signature letters: v void, b i1, i i32, l i64, p ptr.
struct MarkInfo {
  std::string_view symbol;  // the LLVM function's name
  char result;
  std::string_view arguments;
  MarkKind kind;
  MarkLanes lanes;
  MarkWaiting waiting;
};

inline constexpr std::array kMarks = {
#define MARK(name, result, arguments, kind, lanes, waiting) \
  MarkInfo{"softgpu." #name, #result[0], arguments, MarkKind::kind, MarkLanes::lanes, MarkWaiting::waiting},
#include "softgpu/abi/marks.def"
#undef MARK
};

// Metadata of the stack variables that are memory of the program, and not the compiler's own.
inline constexpr const char* kLocalMemory = "softgpu.local";
// The synchronisation scope of the atomic sums of floats that flush subnormal numbers, which no pass mixes up with
// others.
inline constexpr const char* kFlushes = "softgpu.flushes";

constexpr const MarkInfo& info(Mark mark) { return kMarks[static_cast<std::size_t>(mark)]; }

constexpr std::optional<Mark> mark_named(std::string_view symbol) {
  for (std::size_t i = 0; i < kMarks.size(); ++i)
    if (kMarks[i].symbol == symbol) return static_cast<Mark>(i);
  return std::nullopt;
}

}  // namespace softgpu::abi
