// Textures and surfaces: calls of the texture unit, one for each thread.
#include "softgpu/abi/texture.hpp"

#include "softgpu/lower/memory/memory.hpp"

namespace softgpu::lower {
namespace {

using abi::Geometry;
using abi::ImageQuery;
using llvm::Value;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Operand;
using ptx::Type;

template <typename Meaning>
struct Word {
  Modifier modifier;
  Meaning meaning;
};

struct Shape {
  Geometry geometry;
  bool layered;
};

constexpr Word<Shape> kGeometries[] = {
    {Modifier::line, {Geometry::line, false}},     {Modifier::lines, {Geometry::line, true}},
    {Modifier::plane, {Geometry::plane, false}},   {Modifier::planes, {Geometry::plane, true}},
    {Modifier::volume, {Geometry::volume, false}}, {Modifier::cube, {Geometry::cube, false}},
    {Modifier::cubes, {Geometry::cube, true}},
};

constexpr Word<ImageQuery> kQueries[] = {
    {Modifier::width, ImageQuery::width},
    {Modifier::height, ImageQuery::height},
    {Modifier::depth, ImageQuery::depth},
    {Modifier::array_size, ImageQuery::array_size},
    {Modifier::num_mipmap_levels, ImageQuery::mipmap_levels},
    {Modifier::num_samples, ImageQuery::samples},
    {Modifier::channel_data_type, ImageQuery::channel_type},
    {Modifier::channel_order, ImageQuery::channel_order},
    {Modifier::normalized_coords, ImageQuery::normalized_coordinates},
    {Modifier::memory_layout, ImageQuery::memory_layout},
};

constexpr Word<abi::SurfaceBoundary> kBoundaries[] = {
    {Modifier::trap, abi::SurfaceBoundary::trap},
    {Modifier::clamp, abi::SurfaceBoundary::clamp},
    {Modifier::zero, abi::SurfaceBoundary::zero},
};

constexpr Word<std::uint32_t> kChannels[] = {{Modifier::r, 0}, {Modifier::g, 1}, {Modifier::b, 2}, {Modifier::a, 3}};

// The table of instructions sees to it that one of the words is there.
template <typename Meaning, std::size_t N>
const Meaning& meaning(const Word<Meaning> (&words)[N], const Instruction& i) {
  std::size_t k = 0;
  while (k + 1 < N && !i.has(words[k].modifier)) ++k;
  return words[k].meaning;
}

Value* word(FunctionLowering& f, auto value) { return f.ir.getInt32(static_cast<std::uint32_t>(value)); }

using Arguments = llvm::SmallVector<Value*, 16>;

// x, y and z; those that are not there are zero.
void add_coordinates(FunctionLowering& f, Arguments& arguments, llvm::ArrayRef<Operand> elements, Type type) {
  for (std::size_t k = 0; k < 3; ++k)
    arguments.push_back(k < elements.size() ? f.read(elements[k], type)
                                            : llvm::Constant::getNullValue(llvm_type(f.module.context(), type)));
}

// The layer, or zero, and the coordinates.
void add_position(FunctionLowering& f, Arguments& arguments, const Operand& coordinates, const Shape& shape,
                  Type type) {
  llvm::ArrayRef<Operand> elements = elements_of(coordinates);
  arguments.push_back(shape.layered ? f.read(elements[0], Type::u32) : word(f, 0));
  add_coordinates(f, arguments, shape.layered ? elements.drop_front() : elements, type);
}

// Writes the 32-bit words that a call has left in `memory`, and that they are resident, which they always are here.
void write_texels(FunctionLowering& f, const Instruction& i, Value* memory, bool wants_residence) {
  const llvm::ArrayRef<Operand> destinations = elements_of(i.operands[0]);
  for (std::size_t k = 0; k < destinations.size(); ++k)
    f.write(destinations[k], f.ir.CreateLoad(f.ir.getInt32Ty(), f.displaced(memory, 4 * k)), Type::b32);
  if (wants_residence) f.write(i.operands[1], f.ir.getTrue(), Type::pred);
}

// A texture instruction's operands: the texels, perhaps whether they are resident, the texture, the rest.
struct TextureOperands {
  explicit TextureOperands(const Instruction& i)
      : has_residence(!std::holds_alternative<ptx::VectorOperand>(i.operands[2].value)) {
    rest = llvm::ArrayRef<Operand>(i.operands).drop_front(has_residence ? 2 : 1);
  }
  bool has_residence;
  llvm::ArrayRef<Operand> rest;  // handle, coordinates, then what the form adds
};

// Without a level there is no bias either: the first level that the sampler allows.
Value* lowest_level(FunctionLowering& f, Type type) {
  llvm::Type* const number = llvm_type(f.module.context(), type);
  return ptx::is_float(type) ? llvm::ConstantFP::getInfinity(number, true) : llvm::Constant::getNullValue(number);
}

abi::SurfaceAccess access_of(const Instruction& i) {
  return {meaning(kGeometries, i).geometry, meaning(kBoundaries, i), i.vector_width * ptx::bits(i.types[0]) / 8};
}

}  // namespace

void lower_tex(FunctionLowering& f, const Instruction& i) {
  const TextureOperands operands(i);
  const Shape& shape = meaning(kGeometries, i);
  const Type type = i.types[1];
  Value* memory = f.scratch();
  Arguments arguments = {memory, f.read(operands.rest[0], Type::u64), word(f, shape.geometry)};
  add_position(f, arguments, operands.rest[1], shape, type);
  if (i.has(Modifier::grad)) {
    add_coordinates(f, arguments, elements_of(operands.rest[2]), type);
    add_coordinates(f, arguments, elements_of(operands.rest[3]), type);
    f.call(RuntimeCall::texture_gradient, arguments);
  } else {
    arguments.push_back(i.has(Modifier::level) ? f.read(operands.rest[2], type) : lowest_level(f, type));
    f.call(ptx::is_float(type) ? RuntimeCall::texture_sample : RuntimeCall::texture_fetch, arguments);
  }
  write_texels(f, i, memory, operands.has_residence);
}

void lower_tld4(FunctionLowering& f, const Instruction& i) {
  const TextureOperands operands(i);
  Value* memory = f.scratch();
  Arguments arguments = {memory, f.read(operands.rest[0], Type::u64), word(f, meaning(kChannels, i))};
  add_position(f, arguments, operands.rest[1], meaning(kGeometries, i), Type::f32);
  arguments.pop_back();  // there is no z
  f.call(RuntimeCall::texture_gather, arguments);
  write_texels(f, i, memory, operands.has_residence);
}

void lower_txq(FunctionLowering& f, const Instruction& i) {
  Value* level = i.has(Modifier::level) ? f.read(i.operands[2], Type::u32) : word(f, 0);
  Value* handle = f.read(i.operands[1], Type::u64);
  f.write(i.operands[0], f.call(RuntimeCall::texture_query, {handle, word(f, meaning(kQueries, i)), level}), Type::b32);
}

void lower_suq(FunctionLowering& f, const Instruction& i) {
  Value* handle = f.read(i.operands[1], Type::u64);
  f.write(i.operands[0], f.call(RuntimeCall::surface_query, {handle, word(f, meaning(kQueries, i))}), Type::b32);
}

void lower_suld(FunctionLowering& f, const Instruction& i) {
  const Type type = i.types[0];
  Value* memory = f.scratch();
  Arguments arguments = {memory, f.read(i.operands[1], Type::u64), word(f, access_of(i).packed())};
  add_position(f, arguments, i.operands[2], meaning(kGeometries, i), Type::b32);
  f.call(RuntimeCall::surface_load, arguments);
  const llvm::ArrayRef<Operand> destinations = elements_of(i.operands[0]);
  for (std::size_t k = 0; k < destinations.size(); ++k)
    f.write(destinations[k],
            f.ir.CreateLoad(llvm_type(f.module.context(), type), f.displaced(memory, k * ptx::bits(type) / 8)), type);
}

void lower_sust(FunctionLowering& f, const Instruction& i) {
  const Type type = i.types[0];
  const std::size_t width = ptx::bits(type);
  Value* halves[] = {f.ir.getInt64(0), f.ir.getInt64(0)};
  const llvm::ArrayRef<Operand> sources = elements_of(i.operands[2]);
  for (std::size_t k = 0; k < sources.size(); ++k) {
    Value*& half = halves[k * width / 64];
    half = f.ir.CreateOr(half, f.ir.CreateShl(resize(f.ir, f.read(sources[k], type), 64, false), k * width % 64));
  }
  Arguments arguments = {halves[0], halves[1], f.read(i.operands[0], Type::u64), word(f, access_of(i).packed())};
  add_position(f, arguments, i.operands[1], meaning(kGeometries, i), Type::b32);
  f.call(RuntimeCall::surface_store, arguments);
}

}  // namespace softgpu::lower
