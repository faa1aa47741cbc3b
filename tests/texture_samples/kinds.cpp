#include "texture_samples/kinds.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace texture_samples {
namespace {

constexpr Format kIntegers[] = {
    {"u8", CU_AD_FORMAT_UNSIGNED_INT8, 1, 1, true, false},   {"u16", CU_AD_FORMAT_UNSIGNED_INT16, 2, 2, true, false},
    {"u32", CU_AD_FORMAT_UNSIGNED_INT32, 1, 4, true, false}, {"s8", CU_AD_FORMAT_SIGNED_INT8, 4, 1, true, false},
    {"s16", CU_AD_FORMAT_SIGNED_INT16, 1, 2, true, false},   {"s32", CU_AD_FORMAT_SIGNED_INT32, 1, 4, true, false},
};
constexpr Format kFractions[] = {kFloat, kHalf, kUnorm8, kSnorm8, kUnorm16, kSnorm16, kSrgb};

struct Addressing {
  const char* name;
  CUaddress_mode mode;
  bool normalized;
};
constexpr Addressing kAddressing[] = {
    {"wrap", CU_TR_ADDRESS_MODE_WRAP, true},           {"clamp", CU_TR_ADDRESS_MODE_CLAMP, true},
    {"mirror", CU_TR_ADDRESS_MODE_MIRROR, true},       {"border", CU_TR_ADDRESS_MODE_BORDER, true},
    {"clamp-texels", CU_TR_ADDRESS_MODE_CLAMP, false}, {"border-texels", CU_TR_ADDRESS_MODE_BORDER, false},
};
constexpr Addressing kWrapTexels{"wrap-texels", CU_TR_ADDRESS_MODE_WRAP, false};

struct Place {
  const char* name;
  Shape shape;
  std::array<unsigned, 3> size;
};
constexpr Place kLine{"1d", Shape::line, {100, 1, 1}}, kPlane{"2d", Shape::plane, {37, 20, 1}},
    kPlaneOfTwos{"2d-64x32", Shape::plane, {64, 32, 1}}, kVolume{"3d", Shape::volume, {13, 10, 8}},
    kLines{"1d-layered", Shape::lines, {50, 1, 3}}, kPlanes{"2d-layered", Shape::planes, {24, 15, 3}},
    kCube{"cube", Shape::cube, {16, 16, 1}}, kOddCube{"cube-11", Shape::cube, {11, 11, 1}},
    kCubes{"cube-layered", Shape::cubes, {9, 9, 2}}, kPitched{"pitched", Shape::pitched, {30, 17, 1}},
    kLinear{"linear", Shape::linear, {200, 1, 1}}, kWide{"2d-wide", Shape::plane, {5000, 3, 1}};
constexpr Place kMipmapped[] = {{"1d-mipmapped", Shape::line, {64, 1, 1}},
                                {"2d-mipmapped", Shape::plane, {64, 32, 1}},
                                {"2d-mipmapped-odd", Shape::plane, {45, 27, 1}},
                                {"3d-mipmapped", Shape::volume, {16, 16, 16}},
                                {"2d-layered-mipmapped", Shape::planes, {32, 32, 3}},
                                {"cube-mipmapped", Shape::cube, {32, 32, 1}}};

Case setting(const Place& place, const Format& format, const Addressing& addressing, CUfilter_mode filter) {
  Case it;
  it.shape = place.shape;
  it.size = place.size;
  it.format = format;
  std::fill(std::begin(it.sampling.addressMode), std::end(it.sampling.addressMode), addressing.mode);
  it.sampling.filterMode = filter;
  it.sampling.flags = (format.reads_integers ? CU_TRSF_READ_AS_INTEGER : 0u) | (format.is_srgb ? CU_TRSF_SRGB : 0u) |
                      (addressing.normalized ? CU_TRSF_NORMALIZED_COORDINATES : 0u);
  it.sampling.borderColor[0] = 0.75f;
  it.sampling.borderColor[1] = 0.25f;
  it.sampling.borderColor[2] = 0.5f;
  it.sampling.borderColor[3] = 1;
  it.instruction = tex(it);
  return it;
}

std::string join(std::initializer_list<std::string> words) {
  std::string all;
  for (const std::string& word : words)
    if (!word.empty()) all += (all.empty() ? "" : " ") + word;
  return all;
}

const char* name_of(CUfilter_mode filter) { return filter == CU_TR_FILTER_MODE_LINEAR ? "linear" : "point"; }
constexpr CUfilter_mode kFilters[] = {CU_TR_FILTER_MODE_POINT, CU_TR_FILTER_MODE_LINEAR};

class Table {
 public:
  void add(const Place& place, const Format& format, const Addressing& addressing, CUfilter_mode filter) {
    add(join({place.name, format.name, name_of(filter), addressing.name}), setting(place, format, addressing, filter));
  }
  void add(const std::string& name, const Case& it) { kinds.push_back({name, it}); }

  std::vector<Kind> kinds;
};

void add_plain(Table& table) {
  for (const Addressing& addressing : kAddressing)
    for (const CUfilter_mode filter : kFilters) {
      for (const Format& format : kFractions) table.add(kPlane, format, addressing, filter);
      for (const Place& place : {kLine, kVolume, kLines, kPlanes})
        for (const Format& format : {kFloat, kUnorm8}) table.add(place, format, addressing, filter);
      table.add(kPlaneOfTwos, kFloat, addressing, filter);
      table.add(kWide, kFloat, addressing, filter);
      table.add(kPitched, kFloat, addressing, filter);
      table.add(kPlane, kUnorm8x4, addressing, filter);
      table.add(kPlane, kFloat4, addressing, filter);
    }
  table.add(kPlane, kFloat, kWrapTexels, CU_TR_FILTER_MODE_LINEAR);
  for (const Format& format : kIntegers)
    for (const Addressing& addressing : {kAddressing[0], kAddressing[5]})
      table.add(kPlane, format, addressing, CU_TR_FILTER_MODE_POINT);
  table.add(kLinear, kFloat, kAddressing[4], CU_TR_FILTER_MODE_POINT);
}

void add_cubes(Table& table) {
  for (const Place& place : {kCube, kOddCube, kCubes})
    for (const Format& format : {kFloat, kUnorm8})
      for (const char* how : {"point", "linear", "seamless"}) {
        const std::string word = how;
        Case it = setting(place, format, kAddressing[1],
                          word == "point" ? CU_TR_FILTER_MODE_POINT : CU_TR_FILTER_MODE_LINEAR);
        if (word == "seamless") it.sampling.flags |= CU_TRSF_SEAMLESS_CUBEMAP;
        table.add(join({place.name, format.name, word}), it);
      }
}

void add_mipmapped(Table& table) {
  for (const Place& place : kMipmapped)
    for (const Format& format : {kFloat, kUnorm8})
      for (const CUfilter_mode between : kFilters)
        for (const std::string how : {"", ".level", ".grad"}) {
          Case it = setting(place, format, kAddressing[0], CU_TR_FILTER_MODE_LINEAR);
          it.levels = 4;
          it.sampling.mipmapFilterMode = between;
          it.sampling.maxMipmapLevelClamp = 10;
          it.instruction = tex(it, how);
          const std::string name = join({place.name, format.name, name_of(between), "levels", how});
          table.add(name, it);
          if (place.shape != Shape::plane || format.array != CU_AD_FORMAT_FLOAT) continue;
          it.sampling.mipmapLevelBias = 0.7f;
          it.sampling.minMipmapLevelClamp = 0.3f;
          it.sampling.maxMipmapLevelClamp = 2.4f;
          table.add(join({name, "biased"}), it);
        }
}

void add_gathers(Table& table) {
  for (const Format& format : {kFloat, kUnorm8x4, kIntegers[3]})
    for (const Addressing& addressing : kAddressing) {
      Case it = setting(kPlane, format, addressing, CU_TR_FILTER_MODE_POINT);
      it.gathers = true;
      it.instruction = gather(it, format.channels == 4 ? 'b' : 'r');
      table.add(join({"2d", format.name, "gather", addressing.name}), it);
    }
}

void add_fetches(Table& table) {
  for (const Place& place : {kLine, kPlane, kVolume, kLines, kPlanes, kPitched, kLinear})
    for (const Addressing& addressing : {kAddressing[4], kAddressing[5]}) {
      Case it = setting(place, kFloat, addressing, CU_TR_FILTER_MODE_POINT);
      it.instruction = tex_by_index(it);
      table.add(join({place.name, "f32", "by index", addressing.name}), it);
    }
}

// The next float up or down, a few times.
float nudged(float value, int steps) {
  for (; steps > 0; --steps) value = std::nextafter(value, std::numeric_limits<float>::infinity());
  for (; steps < 0; ++steps) value = std::nextafter(value, -std::numeric_limits<float>::infinity());
  return value;
}

float power_of_two(int exponent) { return std::ldexp(1.0f, exponent); }

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kSpecial[] = {0.0f,
                              -0.0f,
                              1.0f,
                              0.5f,
                              -1.0f,
                              kInfinity,
                              -kInfinity,
                              std::numeric_limits<float>::quiet_NaN(),
                              std::numeric_limits<float>::denorm_min(),
                              -std::numeric_limits<float>::denorm_min(),
                              std::numeric_limits<float>::max(),
                              std::numeric_limits<float>::lowest(),
                              0x1.fffffep-1f,
                              0x1.000002p0f,
                              0x1p31f,
                              -0x1p31f};
float special(Random& random) { return kSpecial[random.below(std::size(kSpecial))]; }

// What a position of a hundred is for: common places, halves of 256ths, edges, further away, very far or near, special.
enum class Sort : std::uint8_t { common, tie, edge, wide, extreme, special };
Sort sort_of(std::size_t position) {
  const std::size_t percent = position * 100 / kSamples;
  return percent < 35   ? Sort::common
         : percent < 55 ? Sort::tie
         : percent < 70 ? Sort::edge
         : percent < 85 ? Sort::wide
         : percent < 95 ? Sort::extreme
                        : Sort::special;
}

// Between -half and three halves of a size, in 512ths.
float tie(Random& random, float size) {
  const auto steps = static_cast<std::uint32_t>(size * 1024);
  return (static_cast<float>(random.below(steps)) - size * 256) / 512;
}

float coordinate(Random& random, Sort sort, float size, bool normalized) {
  const float scale = normalized ? size : 1;
  const auto signed_one = [&] { return random.below(2) == 0 ? 1.0f : -1.0f; };
  switch (sort) {
    case Sort::common: return random.uniform(-0.5f, 1.5f) * (normalized ? 1 : size);
    case Sort::tie: return tie(random, size) / scale;
    case Sort::edge: {
      const float half_texels = static_cast<float>(random.below(static_cast<std::uint32_t>(4 * size))) - size;
      return nudged(half_texels / 2 / scale, static_cast<int>(random.below(7)) - 3);
    }
    case Sort::wide: return random.uniform(-20, 20) * (normalized ? 1 : size);
    case Sort::extreme:
      return signed_one() * random.uniform(1, 2) * power_of_two(static_cast<int>(random.below(80)) - 40);
    case Sort::special: return special(random);
  }
  return 0;
}

// A direction, often where two or three faces meet.
std::array<float, 3> direction(Random& random, Sort sort) {
  std::array<float, 3> along{random.uniform(-1, 1), random.uniform(-1, 1), random.uniform(-1, 1)};
  const auto eighth = [&] { return static_cast<float>(random.below(65)) / 32 - 1; };
  if (sort == Sort::tie) along = {eighth(), eighth(), eighth()};
  if (sort == Sort::edge) {
    const std::uint32_t first = random.below(3), second = (first + 1 + random.below(2)) % 3;
    along[second] = nudged(along[first], static_cast<int>(random.below(7)) - 3) * (random.below(2) == 0 ? 1.0f : -1.0f);
    if (random.below(4) == 0) along[3 - first - second] = along[first];
  }
  if (sort == Sort::wide)
    for (float& component : along) component *= power_of_two(static_cast<int>(random.below(16)) - 8);
  if (sort == Sort::extreme) {
    const float scale = power_of_two(static_cast<int>(random.below(200)) - 100);
    for (float& component : along) component *= scale;
  }
  if (sort == Sort::special)
    for (float& component : along) component = special(random);
  return along;
}

float level(Random& random, Sort sort, unsigned levels) {
  const auto count = static_cast<float>(levels);
  if (sort == Sort::tie) return static_cast<float>(random.below((levels + 2) * 512)) / 512 - 1;
  if (sort == Sort::special) return special(random);
  return random.uniform(-1, count + 1);
}

float step(Random& random, float size, bool normalized) {
  const std::uint32_t way = random.below(16);
  const float texels = way == 0 ? 0 : random.uniform(-1, 1) * power_of_two(static_cast<int>(random.below(8)) - 2);
  return normalized ? texels / size : texels;
}

// By index: mostly inside, often just outside.
std::uint32_t index(Random& random, Sort sort, unsigned size) {
  if (sort == Sort::extreme) return static_cast<std::uint32_t>(random.next());
  return random.below(2 * size + 2) - size / 2 - 1;
}

bool takes_indices(const Case& it) { return it.instruction.find(".s32 {") != std::string::npos; }

}  // namespace

std::uint64_t Random::next() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

float Random::uniform(float low, float high) {
  return low + (high - low) * (static_cast<float>(next() >> 40) * 0x1p-24f);
}

std::uint64_t seed_of(const std::string& name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001b3;
  return hash;
}

void fill_with_random_texels(Case& it, std::uint64_t seed) {
  it.texels.clear();
  for (unsigned level = 0; level < std::max(it.levels, 1u); ++level) {
    std::vector<std::byte> texels(it.texel_count(level) * it.format.bytes());
    Random random(seed, ~std::uint64_t{level});
    for (std::size_t i = 0; i < texels.size(); i += it.format.channel_bytes) {
      auto word = static_cast<std::uint32_t>(random.next());
      if (it.format.array == CU_AD_FORMAT_FLOAT)
        word = bits(random.uniform(-1, 1) * power_of_two(static_cast<int>(random.below(9)) - 4));
      if (it.format.array == CU_AD_FORMAT_HALF && (word & 0x7c00) == 0x7c00) word &= ~0x4000u;  // finite
      std::memcpy(texels.data() + i, &word, it.format.channel_bytes);
    }
    it.texels.push_back(std::move(texels));
  }
}

Input random_input(const Case& it, std::uint64_t seed, std::size_t position) {
  Random random(seed, position);
  const Sort sort = sort_of(position);
  Input input{};
  input[kLayer] = random.below(it.size[2] + 1);
  if (takes_indices(it)) {
    for (unsigned axis = 0; axis < 3; ++axis) input[axis] = index(random, sort, it.size[axis]);
    return input;
  }
  const bool is_cube = it.shape == Shape::cube || it.shape == Shape::cubes;
  const std::array<float, 3> along = direction(random, sort);
  for (unsigned axis = 0; axis < 3; ++axis) {
    const auto size = static_cast<float>(it.size[axis]);
    input[axis] = bits(is_cube ? along[axis] : coordinate(random, sort, size, it.is_normalized()));
    input[kRight + axis] = bits(step(random, size, it.is_normalized()));
    input[kDown + axis] = bits(step(random, size, it.is_normalized()));
  }
  input[kLevel] = bits(level(random, sort, it.levels));
  return input;
}

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = [] {
    Table table;
    add_plain(table);
    add_cubes(table);
    add_mipmapped(table);
    add_gathers(table);
    add_fetches(table);
    return table.kinds;
  }();
  return all;
}

Case case_of(const Kind& kind, std::size_t first, std::size_t count, std::size_t step) {
  Case it = kind.setting;
  const std::uint64_t seed = seed_of(kind.name);
  fill_with_random_texels(it, seed);
  it.inputs.reserve(count);
  for (std::size_t i = 0; i < count; ++i) it.inputs.push_back(random_input(it, seed, first + i * step));
  return it;
}

std::string group_of(const Kind& kind) { return kind.name.substr(0, kind.name.find(' ')); }

namespace {

class Hash {
 public:
  void add(std::uint32_t word) {
    state_ = (state_ ^ word) * 0x9e3779b97f4a7c15;
    state_ ^= state_ >> 29;
  }
  std::uint32_t value() const { return static_cast<std::uint32_t>(state_ ^ state_ >> 32); }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

}  // namespace

std::uint32_t hash_of(std::span<const Output> outputs) {
  constexpr std::size_t kPart = 1'000;
  Hash all;
  for (std::size_t first = 0; first < outputs.size(); first += kPart) {
    Hash part;
    for (const Output& output : outputs.subspan(first, kPart))
      for (const std::uint32_t word : output) part.add(word);
    all.add(part.value());
  }
  return all.value();
}

}  // namespace texture_samples
