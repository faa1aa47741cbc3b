#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

const Address& address(const Operand& operand) { return std::get<Address>(operand.value); }
const Immediate& immediate(const Operand& operand) { return std::get<Immediate>(operand.value); }
SpecialRegister special(const Operand& operand) { return std::get<SpecialRegister>(operand.value); }

TEST(Operand, MayBeARegisterOrAConstant) {
  const Instruction add = parsed_instruction("add.u32 %r1, %r2, -3;");
  ASSERT_EQ(add.operands.size(), 3u);
  EXPECT_TRUE(std::holds_alternative<Register>(add.operands[0].value));
  EXPECT_EQ(immediate(add.operands[2]).bits, static_cast<std::uint64_t>(-3));
  EXPECT_EQ(add.operands[2].where.column, 19u);
  EXPECT_EQ(immediate(parsed_instruction("mov.u32 %r1, (1<<4)+WARP_SZ;").operands[1]).bits, 48u);
  EXPECT_EQ(immediate(parsed_instruction("mov.u32 %r1, !0;").operands[1]).bits, 1u);
}

TEST(Operand, ThatIsAFloatHasTheFormOfItsType) {
  EXPECT_EQ(immediate(parsed_instruction("add.f32 %f1, %f2, 1.5;").operands[2]).bits, 0x3FC00000u);
  EXPECT_EQ(immediate(parsed_instruction("add.f32 %f1, %f2, -1.5;").operands[2]).bits, 0xBFC00000u);
  EXPECT_EQ(immediate(parsed_instruction("add.f64 %e1, %e2, 0f3FC00000;").operands[2]).bits, 0x3FF8000000000000u);
  EXPECT_EQ(immediate(parsed_instruction("mov.b32 %f1, 0f3FC00000;").operands[1]).bits, 0x3FC00000u);
  EXPECT_EQ(kernel_error("mov.f32 %f1, 1;"),
            "line 12, column 14: error: an integer constant can't be a .f32; write it with a point or as 0f… or 0d…");
  EXPECT_EQ(kernel_error("mov.u32 %r1, 1.5;"), "line 12, column 14: error: a floating-point constant can't be a .u32");
  EXPECT_EQ(kernel_error("add.f16 %h1, %h2, 1.0;"),
            "line 12, column 19: error: a floating-point constant can't be a .f16; put it into a register");
}

TEST(Address, HasABaseAndAnOffset) {
  const Operand plain = parsed_instruction("ld.global.u32 %r1, [%d1];").operands[1];
  EXPECT_TRUE(std::holds_alternative<Register>(address(plain).base));
  EXPECT_EQ(address(plain).offset, 0);
  EXPECT_EQ(address(parsed_instruction("ld.global.u32 %r1, [%d1+8];").operands[1]).offset, 8);
  EXPECT_EQ(address(parsed_instruction("ld.global.u32 %r1, [%d1+-8];").operands[1]).offset, -8);
  EXPECT_EQ(address(parsed_instruction("ld.global.u32 %r1, [%d1-8];").operands[1]).offset, -8);
  EXPECT_EQ(address(parsed_instruction("ld.global.u32 %r1, [%d1+4*3];").operands[1]).offset, 12);
  const Operand absolute = parsed_instruction("ld.global.u32 %r1, [0x1000].unified;").operands[1];
  EXPECT_TRUE(std::holds_alternative<std::monostate>(address(absolute).base));
  EXPECT_EQ(address(absolute).offset, 0x1000);
}

TEST(Address, MayBeAVariable) {
  const auto base = [](std::string_view statement) {
    return std::get<Symbol>(address(parsed_instruction(statement).operands[1]).base);
  };
  EXPECT_EQ(base("ld.global.u32 %r1, [table+4];").kind, Symbol::Kind::module_variable);
  EXPECT_EQ(base("ld.global.u32 %r1, [table+4];").name, "table");
  EXPECT_EQ(base("ld.local.u32 %r1, [stack];").kind, Symbol::Kind::function_variable);
  EXPECT_EQ(base("ld.param.u32 %r1, [block+8];").kind, Symbol::Kind::parameter);
  EXPECT_EQ(base("ld.param.u32 %r1, [block+8];").index, 1u);
  EXPECT_EQ(base("mov.u64 %d1, twice;").kind, Symbol::Kind::function);
  EXPECT_EQ(address(parsed_instruction("mov.u64 %d1, table+8;").operands[1]).offset, 8);
  EXPECT_EQ(address(parsed_instruction("ld.global.u32 %r1, table[3];").operands[1]).offset, 12);
}

TEST(Address, IsChecked) {
  EXPECT_EQ(kernel_error("ld.global.u32 %r1, [scratch];"),
            "line 12, column 20: error: 'scratch' is in .shared, 'ld.global.u32' accesses .global");
  EXPECT_EQ(kernel_error("ld.u32 %r1, [scratch];"),
            "line 12, column 13: error: 'scratch' is in .shared, 'ld.u32' accesses generic addresses");
  EXPECT_EQ(kernel_error("ld.global.u32 %r1, [%r2];"),
            "line 12, column 20: error: '%r2' is a .u32; an address register must be an integer of 64 bits");
  EXPECT_EQ(kernel_error("ld.global.u32 %r1, %d2;"),
            "line 12, column 20: error: expected an address in brackets, found '%d2'");
  EXPECT_EQ(kernel_error("ld.global.u32 %r1, [twice];"),
            "line 12, column 20: error: 'twice' is a function, not a variable");
  EXPECT_EQ(kernel_error("ld.global.u32 %r1, [%d1+1.5];"), "line 12, column 25: error: an offset is an integer");
  EXPECT_EQ(kernel_error("ld.global.u32 %r1, [%d1;"),
            "line 12, column 24: error: expected ']' behind the address, found ';'");
  EXPECT_EQ(kernel_error("st.param.u32 [block], %r1;"),
            "line 12, column 14: error: 'block' is a parameter and can't be written");
  EXPECT_EQ(kernel_error("cvta.global.u64 %d1, scratch;"),
            "line 12, column 22: error: 'scratch' is in .shared, 'cvta.global.u64' accesses .global");
  EXPECT_EQ(kernel_error("mov.u32 %r1, table;"),
            "line 12, column 14: error: the address of 'table' does not fit a .u32");
  EXPECT_EQ(kernel_error("add.u64 %d1, %d2, table;"),
            "line 12, column 19: error: 'add.u64' needs a register or a constant here, not an address");
  EXPECT_EQ(parsed_instruction("ld.shared.u32 %r1, [%r2+4];").operands.size(), 2u);
}

TEST(Operand, MayBeAVector) {
  const Instruction load = parsed_instruction("ld.global.v4.u32 {%r1, %r2, _, %r4}, [%d1];");
  EXPECT_EQ(std::get<VectorOperand>(load.operands[0].value).elements.size(), 4u);
  EXPECT_TRUE(std::holds_alternative<Sink>(std::get<VectorOperand>(load.operands[0].value).elements[2].value));
  EXPECT_EQ(parsed_instruction("st.global.v2.f32 [%d1], {%f1, 0f00000000};").operands.size(), 2u);
  EXPECT_EQ(kernel_error("ld.global.v4.u32 {%r1, %r2}, [%d1];"),
            "line 12, column 18: error: 'ld.global.v4.u32' needs 4 elements here, not 2");
  EXPECT_EQ(kernel_error("ld.global.v2.u32 %r1, [%d1];"),
            "line 12, column 18: error: 'ld.global.v2.u32' needs a vector of 2 elements here");
  EXPECT_EQ(kernel_error("ld.global.u32 {%r1, %r2}, [%d1];"),
            "line 12, column 15: error: 'ld.global.u32' can't have a vector here");
  EXPECT_EQ(kernel_error("ld.global.v2.u32 {%r1, {%r2}}, [%d1];"),
            "line 12, column 24: error: expected a register or a constant, found '{'");
}

TEST(Operand, MayBeOneValueInBraces) {
  for (const char* load : {"ld.global.b32", "ld.u32", "ld.global.nc.b32", "ld.volatile.global.u32", "ldu.global.b32",
                           "ld.acquire.gpu.global.u32"})
    EXPECT_TRUE(std::holds_alternative<Register>(
        parsed_instruction(std::string(load) + " { %r1 }, [ %d1 + 0 ];").operands[0].value))
        << load;
  for (const char* store : {"st.global.b32", "st.u32", "st.volatile.global.b32", "st.release.gpu.global.b32"})
    EXPECT_TRUE(std::holds_alternative<Register>(
        parsed_instruction(std::string(store) + " [ %d1 + 0 ], { %r1 };").operands[1].value))
        << store;
  EXPECT_TRUE(
      std::holds_alternative<Immediate>(parsed_instruction("st.global.f32 [%d1], {0f3F800000};").operands[1].value));
  EXPECT_EQ(kernel_error("ld.global.b32 {_}, [%d1];"),
            "line 12, column 16: error: 'ld.global.b32' can't have '_' here");
  EXPECT_EQ(kernel_error("st.global.b32 [%d1], {%h1};"),
            "line 12, column 23: error: '%h1' is a .b16, 'st.global.b32' needs a .b32 or wider here");
  EXPECT_EQ(kernel_error("st.global.b32 [%d1], {%r1, %r2};"),
            "line 12, column 22: error: 'st.global.b32' can't have a vector here");
  EXPECT_EQ(kernel_error("atom.global.add.u32 %r1, [%d1], {%r2};"),
            "line 12, column 33: error: 'atom.global.add.u32' can't have a vector here");
  EXPECT_EQ(kernel_error("red.global.add.u32 [%d1], {%r2};"),
            "line 12, column 27: error: 'red.global.add.u32' can't have a vector here");
}

TEST(Operand, OfAStoreMayBeSpecialRegistersInBraces) {
  for (const char* store :
       {"st.global.u32 [%d1], {%tid.x};", "st.shared.u16 [%r1], {%laneid};", "st.global.f32 [%d1], {%laneid};",
        "st.global.u32 [%d1], {%clock64};", "st.global.v2.u32 [%d1], {%tid.x, %r1};",
        "st.global.v2.f32 [%d1], {%f1, %tid.y};", "st.global.v2.b64 [%d1], {%clock64, %globaltimer};",
        "st.global.v2.u8 [%d1], {%tid.x, %r2};"})
    EXPECT_EQ(parsed_instruction(store).operands.size(), 2u) << store;
  EXPECT_EQ(kernel_error("st.global.u32 [%d1], %tid.x;"),
            "line 12, column 22: error: 'st.global.u32' can't read a special register; mov it to a register first");
  EXPECT_EQ(kernel_error("st.global.u64 [%d1], {%tid.x};"),
            "line 12, column 23: error: 'st.global.u64' can't read a special register; mov it to a register first");
  EXPECT_EQ(kernel_error("st.global.v2.u32 [%d1], {%clock64, %r1};"),
            "line 12, column 36: error: the registers of a vector must be of one width");
  EXPECT_EQ(kernel_error("st.global.v2.u16 [%d1], {%tid.x, %h1};"),
            "line 12, column 34: error: the registers of a vector must be of one width");
  EXPECT_EQ(kernel_error("st.global.v2.u32 [%d1], {1, %tid.x};"),
            "line 12, column 29: error: a vector can't have both a special register and a constant");
}

TEST(Operand, MayBeAVectorRegister) {
  const Function kernel =
      parsed_kernel(".reg .v4 .f32 %v; ld.global.v4.f32 %v, [%d1]; mov.f32 %f1, %v.z; mov.f32 %f2, %v.a;");
  EXPECT_EQ(std::get<VectorOperand>(kernel.body[0].operands[0].value).elements.size(), 4u);
  const auto index = [&](std::size_t i) { return std::get<Register>(kernel.body[i].operands[1].value).index; };
  EXPECT_EQ(index(2), index(1) + 1);
  EXPECT_EQ(kernel_error(".reg .v2 .f32 %v; mov.f32 %f1, %v.z;"),
            "line 12, column 34: error: '%v' has no element '.z'");
}

TEST(Move, PacksOrUnpacks) {
  EXPECT_EQ(parsed_instruction("mov.b32 {%r1}, %r2;").operands.size(), 2u);
  EXPECT_EQ(parsed_instruction("mov.b32 %r1, {%tid.x};").operands.size(), 2u);
  EXPECT_EQ(parsed_instruction("mov.b64 %d1, {%tid.x, %r1};").operands.size(), 2u);
  EXPECT_EQ(kernel_error("mov.b32 {%r1}, {%r2};"),
            "line 12, column 16: error: 'mov.b32' can have a vector on one side, not on both");
  EXPECT_EQ(kernel_error("mov.b64 {%r1, %r2}, {%r3, %r4};"),
            "line 12, column 21: error: 'mov.b64' can have a vector on one side, not on both");
}

TEST(Move, PacksAndUnpacks) {
  EXPECT_EQ(parsed_instruction("mov.b32 %r1, {%h1, %h2};").operands.size(), 2u);
  EXPECT_EQ(parsed_instruction("mov.b64 {%r1, _}, %d1;").operands.size(), 2u);
  EXPECT_EQ(parsed_instruction("mov.b64 %e1, {%h1, %h2, %h3, %h4};").operands.size(), 2u);
  EXPECT_EQ(parsed_instruction("mov.b64 {%d1}, %d2;").operands.size(), 2u);
  EXPECT_EQ(parsed_instruction("mov.b32 %r1, {%r2};").operands.size(), 2u);
  EXPECT_EQ(kernel_error("mov.u32 %r1, {%r2};"), "line 12, column 14: error: 'mov.u32' can't have a vector of 1 here");
  EXPECT_EQ(kernel_error("mov.b32 %r1, {%h1, %h2, %h3};"),
            "line 12, column 14: error: 'mov.b32' can't have a vector of 3 here");
  EXPECT_EQ(kernel_error("mov.b32 %r1, {%r1, %r2};"),
            "line 12, column 15: error: '%r1' is a .u32, 'mov.b32' needs a .b16 here");
}

TEST(Operand, MayBeAPairOrLeftOut) {
  const Instruction setp = parsed_instruction("setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3;");
  EXPECT_NE(std::get<PredicatePair>(setp.operands[0].value).second, kNoRegister);
  EXPECT_TRUE(setp.operands[3].negated);
  EXPECT_EQ(std::get<PredicatePair>(parsed_instruction("setp.lt.s32 %p1|_, %r1, %r2;").operands[0].value).second,
            kNoRegister);
  EXPECT_EQ(parsed_instruction("shfl.sync.idx.b32 %r1|%p1, %r2, 0, 31, -1;").operands.size(), 5u);
  EXPECT_TRUE(std::holds_alternative<Sink>(parsed_instruction("atom.global.add.u32 _, [%d1], 1;").operands[0].value));
  EXPECT_EQ(kernel_error("add.u32 _, %r1, %r2;"), "line 12, column 9: error: 'add.u32' can't have '_' here");
  EXPECT_EQ(kernel_error("add.u32 %r1|%p1, %r1, %r2;"),
            "line 12, column 9: error: 'add.u32' has one result here, not two");
  EXPECT_EQ(kernel_error("elect.sync %r1, -1;"),
            "line 12, column 12: error: 'elect.sync' needs two registers here: d|p");
}

TEST(Operand, MayBeANegatedPredicate) {
  EXPECT_TRUE(parsed_instruction("and.pred %p1, %p2, !%p3;").operands[2].negated);
  EXPECT_TRUE(parsed_instruction("selp.u32 %r1, 1, 0, !%p3;").operands[3].negated);
  EXPECT_EQ(kernel_error("add.u32 %r1, !%r2, 1;"),
            "line 12, column 14: error: '!' is possible only with a predicate that is read");
  EXPECT_EQ(kernel_error("not.pred !%p1, %p2;"),
            "line 12, column 10: error: '!' is possible only with a predicate that is read");
}

TEST(SpecialRegister, IsReadByMov) {
  EXPECT_EQ(special(parsed_instruction("mov.u32 %r1, %tid.x;").operands[1]), SpecialRegister::tid_x);
  EXPECT_EQ(special(parsed_instruction("mov.u32 %r1, %nctaid.z;").operands[1]), SpecialRegister::nctaid_z);
  EXPECT_EQ(special(parsed_instruction("mov.u64 %d1, %clock64;").operands[1]), SpecialRegister::clock64);
  EXPECT_EQ(special(parsed_instruction("mov.u32 %r1, %lanemask_lt;").operands[1]), SpecialRegister::lanemask_lt);
  EXPECT_EQ(special(parsed_instruction("mov.u16 %h1, %tid.x;").operands[1]), SpecialRegister::tid_x);
  EXPECT_EQ(special(parsed_instruction("cvt.u64.u32 %d1, %tid.x;").operands[1]), SpecialRegister::tid_x);
  EXPECT_EQ(kernel_error("mov.u64 %d1, %tid.x;"),
            "line 12, column 14: error: '%tid.x' is a .u32, 'mov.u64' needs a .u64 here");
  EXPECT_EQ(kernel_error("add.u32 %r1, %tid.x, 1;"),
            "line 12, column 14: error: 'add.u32' can't read a special register; mov it to a register first");
  EXPECT_EQ(kernel_error("mov.u32 %r1, %tidd.x;"), "line 12, column 14: error: '%tidd' is not declared");
}

TEST(SpecialRegister, OfClusters) {
  EXPECT_EQ(special(parsed_instruction("mov.u32 %r1, %clusterid.y;").operands[1]), SpecialRegister::clusterid_y);
  EXPECT_EQ(special(parsed_instruction("mov.pred %p1, %is_explicit_cluster;").operands[1]),
            SpecialRegister::is_explicit_cluster);
  EXPECT_EQ(kernel_error("mov.u32 %r1, %is_explicit_cluster;"),
            "line 12, column 14: error: '%is_explicit_cluster' is a .pred, 'mov.u32' needs a .u32 here");
}

TEST(SpecialRegister, ThatSoftgpuLacksIsRefused) {
  const ParseResult result = parse(kernel_with("mov.b32 %r1, %envreg3;"));
  ASSERT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].cause, Diagnostic::Cause::unsupported);
  EXPECT_EQ(result.diagnostics[0].message, "softgpu does not have the special register '%envreg3'");
}

TEST(OperandType, MustAgreeInSize) {
  EXPECT_EQ(kernel_error("add.u64 %d1, %d2, %r1;"),
            "line 12, column 19: error: '%r1' is a .u32, 'add.u64' needs a .u64 here");
  EXPECT_EQ(kernel_error("add.u32 %d1, %r2, %r1;"),
            "line 12, column 9: error: '%d1' is a .u64, 'add.u32' needs a .u32 here");
  EXPECT_EQ(kernel_error("mul.wide.u32 %r1, %r2, %r3;"),
            "line 12, column 14: error: '%r1' is a .u32, 'mul.wide.u32' needs a .u64 here");
  EXPECT_EQ(kernel_error("shl.b64 %d1, %d2, %d3;"),
            "line 12, column 19: error: '%d3' is a .u64, 'shl.b64' needs a .u32 here");
}

TEST(OperandType, OfBitsGoesWithAllOfItsSize) {
  for (const char* statement : {"and.b32 %f1, %r1, %f2;", "mov.b32 %r1, %f1;", "add.f16 %h1, %h2, %h3;",
                                "add.s32 %r1, %r2, %r3;", "ld.global.b32 %f1, [%d1];"})
    EXPECT_EQ(kernel_error(statement), "") << statement;
  EXPECT_EQ(kernel_error("add.u32 %r1, %r2, %f1;"),
            "line 12, column 19: error: '%f1' is a .f32, 'add.u32' needs a .u32 here");
  EXPECT_EQ(kernel_error("add.f32 %f1, %f2, %r1;"),
            "line 12, column 19: error: '%r1' is a .u32, 'add.f32' needs a .f32 here");
  EXPECT_EQ(kernel_error("add.u32 %r1, %r2, %p1;"),
            "line 12, column 19: error: '%p1' is a .pred, 'add.u32' needs a .u32 here");
}

TEST(OperandType, OfPackedRegistersIsAsGoodAsBits) {
  for (const char* statement :
       {"add.f16x2 %x, %x, %x;", "add.u16x2 %x, %x, %x;", "add.u32 %x, %x, %r1;", "mov.b32 %r1, %x;"})
    EXPECT_EQ(kernel_error(".reg .f16x2 %x; " + std::string(statement)), "") << statement;
  EXPECT_EQ(kernel_error("add.f16x2 %r1, %r2, %r3;"),
            "line 12, column 11: error: '%r1' is a .u32, 'add.f16x2' needs a .f16x2 here");
}

TEST(OperandType, MayBeWiderInLoadsStoresAndConversions) {
  for (const char* statement : {"ld.global.u8 %r1, [%d1];", "ld.global.s16 %d1, [%d1];", "st.global.u8 [%d1], %r1;",
                                "cvt.u8.u32 %r1, %r2;", "cvt.u64.u8 %d1, %h1;"})
    EXPECT_EQ(kernel_error(statement), "") << statement;
  EXPECT_EQ(kernel_error("ld.global.u64 %r1, [%d1];"),
            "line 12, column 15: error: '%r1' is a .u32, 'ld.global.u64' needs a .u64 or wider here");
  EXPECT_EQ(kernel_error("ld.global.u32 %f1, [%d1];"),
            "line 12, column 15: error: '%f1' is a .f32, 'ld.global.u32' needs a .u32 or wider here");
}

TEST(Operands, AreCounted) {
  EXPECT_EQ(kernel_error("add.u32 %r1, %r2;"),
            "line 12, column 1: error: 'add.u32' has 2 operands here but takes 3: d, a, b");
  EXPECT_EQ(kernel_error("exit %r1;"), "line 12, column 1: error: 'exit' has 1 operand here but takes 0");
  EXPECT_EQ(kernel_error("bar.sync;"),
            "line 12, column 1: error: 'bar.sync' has 0 operands here but takes 1 to 2: a:barrier{, b:u32}");
  EXPECT_EQ(kernel_error("bar.sync 16;"),
            "line 12, column 10: error: there is no such barrier: they are numbered from 0 to 15");
  EXPECT_EQ(kernel_error("add.u32 5, %r2, %r3;"),
            "line 12, column 9: error: the result of 'add.u32' must be a register");
  EXPECT_EQ(kernel_error("lop3.b32 %r1, %r2, %r3, %r4, %r5;"),
            "line 12, column 30: error: operand 'lut' of 'lop3.b32' must be an integer constant");
  EXPECT_EQ(kernel_error("add.u32 %r1, %r2, %r3"),
            "line 13, column 1: error: expected ';' behind the instruction, found 'ret'");
  EXPECT_EQ(kernel_error("add.u32 %r1,, %r3;"), "line 12, column 13: error: expected an operand, found ','");
}

TEST(Operands, MayBeLeftOutInTheMiddle) {
  EXPECT_EQ(parsed_instruction("bar.red.popc.u32 %r1, 0, %p1;").operands.size(), 3u);
  EXPECT_EQ(parsed_instruction("bar.red.popc.u32 %r1, 0, 64, !%p1;").operands.size(), 4u);
  EXPECT_EQ(kernel_error("bar.red.popc.u32 %r1, 0, 64;"), "");
}

}  // namespace
}  // namespace softgpu::ptx
