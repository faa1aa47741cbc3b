#include "support/tensor_map_model.hpp"

#include <algorithm>
#include <functional>
#include <sstream>

namespace tensor_map_model {
namespace {

using Kind = Arguments::Kind;

bool is_padded(const Arguments& a) {
  return a.data_type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B || a.data_type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
}
bool is_packed(const Arguments& a) { return a.data_type == CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B || is_padded(a); }

bool is_floating(const Arguments& a) {
  switch (a.data_type) {
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32:
    case CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ: return true;
    default: return false;
  }
}

std::uint64_t bits(const Arguments& a) {
  switch (a.data_type) {
    case CU_TENSOR_MAP_DATA_TYPE_UINT8: return 8;
    case CU_TENSOR_MAP_DATA_TYPE_UINT16:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT16:
    case CU_TENSOR_MAP_DATA_TYPE_BFLOAT16: return 16;
    case CU_TENSOR_MAP_DATA_TYPE_UINT64:
    case CU_TENSOR_MAP_DATA_TYPE_INT64:
    case CU_TENSOR_MAP_DATA_TYPE_FLOAT64: return 64;
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B:
    case CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B: return 4;
    case CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B: return 6;
    default: return 32;
  }
}

std::uint64_t inner_bits(const Arguments& a) {
  return bits(a) * (a.kind == Kind::tiled ? a.box[0] : a.channels_per_pixel);
}

// Devices that have no copies of im2col-wide encode its maps as those of im2col, with the other corners 0.
bool is_wide_for_device(const Arguments& a, unsigned capability) {
  return a.kind == Kind::im2col_wide && capability >= 100;
}

// The driver takes a box for empty along an axis that has fewer elements than the steps between them.
std::uint64_t bytes_of_copy(const Arguments& a, unsigned capability) {
  if (a.kind != Kind::tiled) {
    const bool is_w128 = is_wide_for_device(a, capability) && a.wide_mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    return inner_bits(a) * (is_w128 ? 128 : a.pixels_per_column) / 8;
  }
  std::uint64_t elements = 1;
  for (std::uint32_t axis = 0; axis < std::min(a.rank, 5u); ++axis)
    elements *= a.box[axis] / std::max(a.element_strides[axis], 1u);
  return elements * bits(a) / 8;
}
constexpr std::uint64_t kMostBytesOfCopy = 228 << 10;  // the shared memory of a multiprocessor

std::uint64_t swizzle_bytes(const Arguments& a) {
  if (a.swizzle == CU_TENSOR_MAP_SWIZZLE_32B) return 32;
  return a.swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? 64 : 128;
}

std::uint64_t alignment(const Arguments& a) {
  return a.interleave == CU_TENSOR_MAP_INTERLEAVE_32B || is_padded(a) ? 32 : 16;
}

// Whether something holds for axes from `first` to, not including, `end`; ranks that there are none of have all five.
template <typename Holds>
bool for_axes(std::uint32_t first, std::uint32_t end, Holds holds) {
  for (std::uint32_t axis = first; axis < std::min<std::uint32_t>(end, 5); ++axis) {
    if (!holds(axis)) return false;
  }
  return true;
}

bool is_swizzle_of_padded(const Arguments& a) {
  const bool is_one = a.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE || a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
                      a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
  return is_one ||
         (a.data_type == CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B && a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B);
}

struct Corners {
  std::uint32_t count;
  std::array<int, 3> lower, upper;
};
Corners corners_of(const Arguments& a, unsigned capability) {
  if (a.rank < 3 || a.rank > 5) return {};
  if (a.kind == Kind::im2col) return {a.rank - 2, a.lower_corner, a.upper_corner};
  return {is_wide_for_device(a, capability) ? 1 : a.rank - 2, {a.lower_corner[0]}, {a.upper_corner[0]}};
}

// The axis of the first corner: channels that are interleaved have none of their own in front.
std::uint32_t first_spatial(const Arguments& a) { return a.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE ? 1 : 0; }

// The driver's numbers have 32 bits and a sign, which large extents don't fit into.
bool has_pixels(const Arguments& a, unsigned capability) {
  const Corners corners = corners_of(a, capability);
  return for_axes(0, corners.count, [&](std::uint32_t i) {
    const std::uint64_t end = a.extents[first_spatial(a) + i] + static_cast<std::uint64_t>(corners.upper[i]);
    return static_cast<std::int32_t>(end) > corners.lower[i];
  });
}

bool corners_fit(const Arguments& a, unsigned capability) {
  const Corners corners = corners_of(a, capability);
  const int limit = corners.count <= 1 ? 32768 : corners.count == 2 ? 128 : 16;
  return for_axes(0, corners.count, [&](std::uint32_t i) {
    return corners.lower[i] >= -limit && corners.lower[i] <= limit - 1 && corners.upper[i] >= -limit &&
           corners.upper[i] <= limit - 1;
  });
}

constexpr int kTiled = 1, kIm2col = 2, kWide = 4, kAny = 7;

struct Rule {
  const char* name;
  int kinds;
  bool (*holds)(const Arguments&, unsigned capability);
  bool only_since_100 = false;  // breaks only by what earlier devices refuse anyway
};

const Rule kRules[] = {
    {"type", kAny, [](const Arguments& a, unsigned) { return a.data_type <= 15; }},
    {"type of the device", kAny, [](const Arguments& a, unsigned c) { return c >= 100 || !is_packed(a); }},
    {"rank", kTiled, [](const Arguments& a, unsigned) { return a.rank >= 1 && a.rank <= 5; }},
    {"rank of im2col", kIm2col | kWide, [](const Arguments& a, unsigned) { return a.rank >= 3 && a.rank <= 5; }},
    {"rank when interleaved", kTiled,
     [](const Arguments& a, unsigned) { return a.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE || a.rank >= 3; }},
    {"address", kAny, [](const Arguments& a, unsigned) { return a.address % alignment(a) == 0; }},
    {"address's 57 bits", kAny, [](const Arguments& a, unsigned) { return a.address < 1ull << 57; }},
    {"extents", kAny,
     [](const Arguments& a, unsigned) {
       return for_axes(0, a.rank, [&](auto i) { return a.extents[i] != 0 && a.extents[i] <= 1ull << 32; });
     }},
    {"extent of packed", kAny,
     [](const Arguments& a, unsigned) {
       return is_padded(a) ? a.extents[0] % 128 == 0 : !is_packed(a) || a.extents[0] % 2 == 0;
     },
     true},
    {"strides' multiple", kAny,
     [](const Arguments& a, unsigned) {
       return for_axes(0, a.rank == 0 ? 0 : a.rank - 1, [&](auto i) { return a.strides[i] % alignment(a) == 0; });
     }},
    {"strides' limit", kAny,
     [](const Arguments& a, unsigned) {
       return for_axes(0, a.rank == 0 ? 0 : a.rank - 1, [&](auto i) { return a.strides[i] < 1ull << 40; });
     }},
    {"box", kTiled,
     [](const Arguments& a, unsigned) {
       return for_axes(0, a.rank, [&](auto i) { return a.box[i] != 0 && a.box[i] <= 256; });
     }},
    {"16 bytes along axis 0", kAny, [](const Arguments& a, unsigned) { return inner_bits(a) % 128 == 0; }},
    {"bytes of a copy", kAny, [](const Arguments& a, unsigned c) { return bytes_of_copy(a, c) <= kMostBytesOfCopy; }},
    {"box of padded", kTiled, [](const Arguments& a, unsigned) { return !is_padded(a) || a.box[0] == 128; }, true},
    {"element strides", kAny,
     [](const Arguments& a, unsigned) {
       return for_axes(0, a.rank, [&](auto i) { return a.element_strides[i] >= 1 && a.element_strides[i] <= 8; });
     }},
    {"interleave", kAny, [](const Arguments& a, unsigned) { return a.interleave <= 2; }},
    {"interleave of 6 bits", kAny,
     [](const Arguments& a, unsigned) {
       return a.data_type != CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B || a.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE;
     },
     true},
    {"swizzle", kAny, [](const Arguments& a, unsigned) { return a.swizzle <= 6; }},
    {"swizzle of the device", kAny, [](const Arguments& a, unsigned c) { return c >= 100 || a.swizzle <= 3; }},
    {"swizzle of im2col-wide", kWide,
     [](const Arguments& a, unsigned c) {
       return c < 100 || a.swizzle == CU_TENSOR_MAP_SWIZZLE_64B || a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B ||
              a.swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B;
     },
     true},
    {"swizzle of padded", kAny, [](const Arguments& a, unsigned) { return !is_padded(a) || is_swizzle_of_padded(a); },
     true},
    {"swizzle's span", kAny,
     [](const Arguments& a, unsigned) {
       return a.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE || a.swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ||
              inner_bits(a) <= swizzle_bytes(a) * 8;
     }},
    {"promotion", kAny, [](const Arguments& a, unsigned) { return a.l2_promotion <= 3; }},
    {"fill", kAny, [](const Arguments& a, unsigned) { return a.fill <= 1; }},
    {"fill of the type", kAny, [](const Arguments& a, unsigned) { return a.fill == 0 || is_floating(a); }},
    {"corners", kIm2col | kWide, [](const Arguments& a, unsigned c) { return corners_fit(a, c); }},
    {"area", kIm2col | kWide, [](const Arguments& a, unsigned c) { return has_pixels(a, c); }},
    {"channels", kIm2col | kWide,
     [](const Arguments& a, unsigned) { return a.channels_per_pixel >= 1 && a.channels_per_pixel <= 256; }},
    {"channels of padded", kIm2col | kWide,
     [](const Arguments& a, unsigned) { return !is_padded(a) || a.channels_per_pixel == 128; }, true},
    {"pixels", kIm2col,
     [](const Arguments& a, unsigned) { return a.pixels_per_column >= 1 && a.pixels_per_column <= 1024; }},
    {"pixels of W", kWide,
     [](const Arguments& a, unsigned c) {
       return (c >= 100 && a.wide_mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128) ||
              (a.pixels_per_column >= 1 && a.pixels_per_column <= 1024);
     }},
    {"mode", kWide, [](const Arguments& a, unsigned) { return a.wide_mode <= 1; }},
};

int mask_of(Kind kind) { return kind == Kind::tiled ? kTiled : kind == Kind::im2col ? kIm2col : kWide; }

class Maker {
 public:
  Maker(std::mt19937_64& random, Kind kind, unsigned capability) : random_(random), capability_(capability) {
    a_.kind = kind;
  }

  // Arguments that break no rule.
  Arguments legal() {
    const bool is_tiled = a_.kind == Kind::tiled, is_wide = a_.kind == Kind::im2col_wide;
    a_.rank = static_cast<cuuint32_t>(between(is_tiled ? 1 : 3, 5));
    a_.data_type = static_cast<std::uint32_t>(between(0, capability_ >= 100 ? 15 : 12));
    const bool can_interleave = a_.rank >= 3 && a_.data_type != CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B;
    a_.interleave = static_cast<std::uint32_t>(can_interleave && chance(3) ? between(1, 2) : 0);
    if (is_padded(a_) && !is_wide && a_.interleave == CU_TENSOR_MAP_INTERLEAVE_32B) a_.interleave = 0;
    a_.address = pick<std::uint64_t>({0, 1, 77, 1 << 20, 1ull << 40}) * 32;
    a_.l2_promotion = static_cast<std::uint32_t>(between(0, 3));
    a_.fill = is_floating(a_) ? static_cast<std::uint32_t>(between(0, 1)) : 0;
    put_swizzle();
    put_extents();
    put_inner();
    if (!is_tiled) put_corners();
    a_.pixels_per_column = pick<cuuint32_t>({1, 2, 100, 1024});
    a_.wide_mode = static_cast<std::uint32_t>(between(0, 1));
    fit_in_shared_memory();
    const bool is_w128 = is_wide && capability_ >= 100 && a_.wide_mode == CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128;
    if (is_w128 && chance(2)) a_.pixels_per_column = 5000;
    return a_;
  }

  // One of them made something else, which may be allowed as well.
  void change() {
    const auto axis = static_cast<std::size_t>(between(0, 4));
    switch (between(0, 15)) {
      case 0: a_.data_type = static_cast<std::uint32_t>(between(0, 17)); break;
      case 1: a_.rank = static_cast<cuuint32_t>(between(0, 7)); break;
      case 2: a_.address += pick<std::uint64_t>({1, 8, 16, 32, 1ull << 56, 1ull << 57}); break;
      case 3: a_.extents[axis] = pick<cuuint64_t>({0, 1, 3, 1ull << 32, (1ull << 32) + 1, ~0ull}); break;
      case 4: a_.strides[axis] = pick<cuuint64_t>({0, 8, 16, 48, (1ull << 40) - 32, 1ull << 40, ~0ull - 31}); break;
      case 5: a_.box[axis] = pick<cuuint32_t>({0, 1, 3, 16, 128, 255, 256, 257, ~0u}); break;
      case 6: a_.element_strides[axis] = pick<cuuint32_t>({0, 1, 8, 9, ~0u}); break;
      case 7: a_.interleave = static_cast<std::uint32_t>(between(0, 3)); break;
      case 8: a_.swizzle = static_cast<std::uint32_t>(between(0, 7)); break;
      case 9: a_.l2_promotion = static_cast<std::uint32_t>(between(0, 4)); break;
      case 10: a_.fill = static_cast<std::uint32_t>(between(0, 2)); break;
      case 11: a_.lower_corner[axis % 3] = corner(); break;
      case 12: a_.upper_corner[axis % 3] = corner(); break;
      case 13: a_.channels_per_pixel = pick<cuuint32_t>({0, 1, 64, 128, 129, 256, 257, ~0u}); break;
      case 14: a_.pixels_per_column = pick<cuuint32_t>({0, 1, 1024, 1025, ~0u}); break;
      default: a_.wide_mode = static_cast<std::uint32_t>(between(0, 2)); break;
    }
  }

  const Arguments& arguments() const { return a_; }
  bool chance(int one_in) { return between(1, one_in) == 1; }

 private:
  // Not the standard library's distributions, which differ from one to the other.
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return least + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(most - least + 1));
  }
  template <typename T>
  T pick(std::initializer_list<T> values) {
    return *(values.begin() + between(0, static_cast<std::int64_t>(values.size()) - 1));
  }

  int corner() { return pick<int>({-32769, -32768, -129, -128, -17, -16, -1, 0, 1, 15, 16, 127, 128, 32767, 32768}); }

  void put_swizzle() {
    if (is_wide_for_device(a_, capability_)) {
      a_.swizzle = is_padded(a_) ? pick<std::uint32_t>({3, 4}) : pick<std::uint32_t>({2, 3, 4});
    } else if (a_.interleave == CU_TENSOR_MAP_INTERLEAVE_32B) {
      a_.swizzle = CU_TENSOR_MAP_SWIZZLE_32B;
    } else if (is_padded(a_)) {
      a_.swizzle = pick<std::uint32_t>({0, 3, 4});
    } else {
      a_.swizzle = static_cast<std::uint32_t>(between(0, capability_ >= 100 ? 6 : 3));
    }
  }

  void put_extents() {
    for (std::size_t axis = 0; axis < 5; ++axis) {
      a_.extents[axis] = pick<cuuint64_t>({1, 2, 64, 1000, 1ull << 32});
      a_.strides[axis] = pick<cuuint64_t>({0, 1, 5, 1024, (1ull << 35) - 1}) * 32;
      a_.element_strides[axis] = static_cast<cuuint32_t>(between(1, 8));
      a_.box[axis] = static_cast<cuuint32_t>(between(1, 256));
    }
    if (is_packed(a_)) a_.extents[0] = pick<cuuint64_t>({128, 1280, 1ull << 32});
  }

  // What a copy has along axis 0.
  void put_inner() {
    const std::uint64_t bytes = a_.interleave == CU_TENSOR_MAP_INTERLEAVE_NONE && a_.swizzle != 0
                                    ? 16 * static_cast<std::uint64_t>(between(1, swizzle_bytes(a_) / 16))
                                    : 16 * static_cast<std::uint64_t>(between(1, 16));
    auto elements = static_cast<cuuint32_t>(std::min<std::uint64_t>(bytes * 8 / bits(a_), 256));
    if (is_padded(a_)) elements = 128;
    (a_.kind == Kind::tiled ? a_.box[0] : a_.channels_per_pixel) = elements;
  }

  void fit_in_shared_memory() {
    if (a_.kind != Kind::tiled && bytes_of_copy(a_, capability_) > kMostBytesOfCopy) a_.pixels_per_column = 100;
    while (bytes_of_copy(a_, capability_) > kMostBytesOfCopy) {
      cuuint32_t& largest = *std::max_element(a_.box.begin() + 1, a_.box.begin() + a_.rank);
      largest = (largest + 1) / 2;
    }
  }

  void put_corners() {
    const bool is_wide = is_wide_for_device(a_, capability_);
    const int limit = is_wide || a_.rank == 3 ? 32768 : a_.rank == 4 ? 128 : 16;
    for (std::size_t i = 0; i < 3; ++i) {
      // An extent of 2^32 is 0 for the driver, which is too little for corners that are 0.
      cuuint64_t& of_axis = a_.extents[first_spatial(a_) + i];
      if (a_.kind == Kind::im2col_wide && !is_wide && of_axis > 1000) of_axis = 1000;
      const std::int64_t extent = static_cast<std::int32_t>(of_axis);
      a_.lower_corner[i] = static_cast<int>(between(-limit, limit - 2));
      const std::int64_t least = std::max<std::int64_t>(-limit, a_.lower_corner[i] - extent + 1);
      a_.upper_corner[i] = static_cast<int>(between(least, limit - 1));
    }
  }

  std::mt19937_64& random_;
  unsigned capability_;
  Arguments a_;
};

}  // namespace

std::vector<std::string> broken_rules(const Arguments& arguments, unsigned compute_capability) {
  std::vector<std::string> broken;
  for (const Rule& rule : kRules) {
    if ((rule.kinds & mask_of(arguments.kind)) != 0 && !rule.holds(arguments, compute_capability))
      broken.emplace_back(rule.name);
  }
  return broken;
}

std::vector<std::string> all_rules(Arguments::Kind kind, unsigned compute_capability) {
  std::vector<std::string> names;
  for (const Rule& rule : kRules) {
    const bool is_for_device = compute_capability >= 100 || !rule.only_since_100;
    const bool is_of_older = std::string(rule.name).ends_with("of the device") && compute_capability >= 100;
    // Older devices refuse more than what is no swizzle at all, and im2col-wide all but three.
    if (std::string(rule.name) == "swizzle" && (compute_capability < 100 || kind == Arguments::Kind::im2col_wide))
      continue;
    if ((rule.kinds & mask_of(kind)) != 0 && is_for_device && !is_of_older) names.emplace_back(rule.name);
  }
  return names;
}

Arguments random_arguments(std::mt19937_64& random, Arguments::Kind kind, unsigned compute_capability) {
  Maker maker(random, kind, compute_capability);
  maker.legal();
  while (!maker.chance(3)) maker.change();
  return maker.arguments();
}

std::string text(const Arguments& a) {
  std::ostringstream out;
  const auto list = [&](const char* name, const auto& values) {
    out << ' ' << name;
    for (const auto& value : values) out << ' ' << value;
  };
  out << (a.kind == Kind::tiled    ? "tiled"
          : a.kind == Kind::im2col ? "im2col"
                                   : "im2col-wide")
      << " type " << a.data_type << " rank " << a.rank << " address " << a.address;
  list("extents", a.extents);
  list("strides", a.strides);
  list("box", a.box);
  list("element strides", a.element_strides);
  list("lower corner", a.lower_corner);
  list("upper corner", a.upper_corner);
  out << " channels " << a.channels_per_pixel << " pixels " << a.pixels_per_column << " mode " << a.wide_mode
      << " interleave " << a.interleave << " swizzle " << a.swizzle << " promotion " << a.l2_promotion << " fill "
      << a.fill;
  return out.str();
}

}  // namespace tensor_map_model
