#include "bench/compile_shapes/shapes.hpp"

namespace bench {
namespace {

/// `text` with each $ replaced by `number`, which may be an immediate value, an offset or part of a label.
std::string fill_in(std::string text, unsigned number) {
  const std::string digits = std::to_string(number);
  for (std::size_t at = text.find('$'); at != std::string::npos; at = text.find('$', at + digits.size()))
    text.replace(at, 1, digits);
  return text;
}

CodeShape numbered(std::string_view name, unsigned instructions, const char* text) {
  return {name, instructions, [text = std::string(text)](unsigned i, unsigned) { return fill_in(text, i); }};
}

/// Like numbered(), with each ~ replaced by an offset into the kernel's memory that is another one each time.
CodeShape accessing(std::string_view name, unsigned instructions, const char* text) {
  return {name, instructions, [text = std::string(text)](unsigned i, unsigned) {
            std::string filled = fill_in(text, i);
            const std::string offset = std::to_string(i * 28 % 40000);
            for (std::size_t at = filled.find('~'); at != std::string::npos; at = filled.find('~'))
              filled.replace(at, 1, offset);
            return filled;
          }};
}

// Jumps over some units and back over others, to the middle of what they would be loops of. %r9 counts those left.
CodeShape jumping(std::string_view name) {
  return {name, 6, [](unsigned i, unsigned count) {
            const std::string begin = i == 0 ? "mov.u32 %r9, 100;\n" : "";
            const std::string text =
                "L$: mad.lo.u32 %r2, %r2, 69069, $; add.s32 %r9, %r9, -1; and.b32 %r3, %r2, 64;\n"
                "setp.ne.u32 %p1, %r3, 0; setp.gt.and.s32 %p2, %r9, 0, %p1; @%p2 bra L";
            return begin + fill_in(text, i) + std::to_string((7 * i + 3) % count) + ";\n";
          }};
}

// Registers: %rd1 the memory, %rd4 this thread's place in it, %r1 tid.x, %r2 a value that each unit changes, %r8 the
// thread's place in shared memory, %rd8 local memory, %f1 to %f8 and %d1 values that stay finite.
const char* const kBegin = R"(.version 7.8
.target sm_80
.address_size 64
.func (.param .b32 result) twist(.param .b32 a) {
  .reg .b32 %r<3>;
  ld.param.u32 %r1, [a];
  mad.lo.u32 %r2, %r1, 69069, 1;
  st.param.b32 [result], %r2;
  ret;
}
.visible .entry k(.param .u64 p) {
  .reg .pred %p<9>;
  .reg .b64 %rd<12>;
  .reg .b32 %r<12>;
  .reg .f32 %f<12>;
  .reg .f64 %d<4>;
  .shared .align 4 .b8 exchange[45000];
  .local .align 4 .b8 array[256];
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 4;
  add.u64 %rd4, %rd1, %rd3;
  ld.global.u32 %r2, [%rd4];
  shl.b32 %r8, %r1, 2;
  mov.u64 %rd8, array;
  and.b32 %r3, %r2, 255;
  cvt.rn.f32.u32 %f1, %r3;
  mov.f32 %f2, %f1; mov.f32 %f3, %f1; mov.f32 %f4, %f1; mov.f32 %f5, %f1;
  mov.f32 %f6, %f1; mov.f32 %f7, %f1; mov.f32 %f8, %f1;
  cvt.f64.f32 %d1, %f1;
)";

const char* const kEnd = R"(DONE:
  add.f32 %f1, %f1, %f2; add.f32 %f3, %f3, %f4; add.f32 %f5, %f5, %f6; add.f32 %f7, %f7, %f8;
  add.f32 %f1, %f1, %f3; add.f32 %f5, %f5, %f7; add.f32 %f1, %f1, %f5;
  cvt.rn.f32.f64 %f2, %d1;
  add.f32 %f1, %f1, %f2;
  mov.b32 %r3, %f1;
  add.u32 %r2, %r2, %r3;
  st.global.u32 [%rd4], %r2;
  ret;
}
)";

std::vector<CodeShape> make_shapes() {
  return {
      numbered("integer arithmetic", 2, "xor.b32 %r3, %r2, $; mul.lo.u32 %r2, %r3, 69069;\n"),
      numbered("float arithmetic", 2, "fma.rn.f32 %f1, %f1, 0f3f000000, 0f3f800000; sqrt.rn.f32 %f1, %f1;\n"),
      numbered("independent sums", 8,
               "fma.rn.f32 %f1, %f1, 0f3f000000, %f2; fma.rn.f32 %f2, %f2, 0f3f000000, %f3;\n"
               "fma.rn.f32 %f3, %f3, 0f3f000000, %f4; fma.rn.f32 %f4, %f4, 0f3f000000, %f5;\n"
               "fma.rn.f32 %f5, %f5, 0f3f000000, %f6; fma.rn.f32 %f6, %f6, 0f3f000000, %f7;\n"
               "fma.rn.f32 %f7, %f7, 0f3f000000, %f8; fma.rn.f32 %f8, %f8, 0f3f000000, %f1;\n"),
      numbered("functions of floats", 4,
               "sin.approx.f32 %f2, %f1; ex2.approx.f32 %f3, %f2; div.rn.f32 %f1, %f2, %f3; add.f32 %f1, %f1, %f3;\n"),
      numbered("double arithmetic", 2,
               "fma.rn.f64 %d1, %d1, 0d3fe0000000000000, 0d3ff0000000000000;\n"
               "div.rn.f64 %d1, %d1, 0d3ff8000000000000;\n"),
      accessing("loads and stores", 3,
                "ld.global.u32 %r3, [%rd4+~]; add.u32 %r2, %r2, %r3; st.global.u32 [%rd4+~], %r2;\n"),
      accessing("loads first", 2, "ld.global.u32 %r3, [%rd4+~]; add.u32 %r2, %r2, %r3;\n"),
      numbered("gathers and scatters", 6,
               "and.b32 %r3, %r2, 1023; mul.wide.u32 %rd5, %r3, 4; add.u64 %rd6, %rd1, %rd5;\n"
               "ld.global.u32 %r4, [%rd6]; add.u32 %r2, %r2, %r4; st.global.u32 [%rd6+4], %r2;\n"),
      numbered("bytes under a mask", 8,
               "and.b32 %r3, %r2, 1023; cvt.u64.u32 %rd5, %r3; add.u64 %rd6, %rd1, %rd5; setp.lt.u32 %p1, %r2, $;\n"
               "@%p1 bra L$; ld.global.u8 %r4, [%rd6]; add.u32 %r2, %r2, %r4; st.global.u8 [%rd6+4], %r2;\nL$:\n"),
      accessing("shared memory", 3, "st.shared.u32 [%r8], %r2; ld.shared.u32 %r3, [%r8+~]; xor.b32 %r2, %r2, %r3;\n"),
      numbered("local array", 6,
               "and.b32 %r4, %r2, 63; mul.wide.u32 %rd5, %r4, 4; add.u64 %rd6, %rd8, %rd5;\n"
               "ld.local.u32 %r3, [%rd6]; add.u32 %r2, %r3, $; st.local.u32 [%rd6], %r2;\n"),
      accessing("atomics", 2, "atom.global.add.u32 %r3, [%rd4+~], %r2; add.u32 %r2, %r2, %r3;\n"),
      accessing("atomics on shared memory", 2, "atom.shared.add.u32 %r3, [%r8+~], %r2; add.u32 %r2, %r2, %r3;\n"),
      accessing("compare and swap", 2, "atom.global.cas.b32 %r3, [%rd4+~], %r1, %r2; add.u32 %r2, %r2, %r3;\n"),
      accessing("reductions", 2, "red.global.add.u32 [%rd4+~], %r2; add.u32 %r2, %r2, $;\n"),
      numbered("shuffles", 2, "shfl.sync.bfly.b32 %r3, %r2, 1, 31, -1; add.u32 %r2, %r2, %r3;\n"),
      numbered("votes", 4,
               "setp.lt.u32 %p1, %r2, $; vote.sync.ballot.b32 %r3, %p1, -1;\n"
               "add.u32 %r2, %r2, %r3; xor.b32 %r2, %r2, %r1;\n"),
      numbered(
          "barriers", 5,
          "st.shared.u32 [%r8], %r2; bar.sync 0; ld.shared.u32 %r3, [%r8+4]; add.u32 %r2, %r2, %r3; bar.sync 0;\n"),
      numbered("branches around barriers", 4,
               "setp.lt.u32 %p1, %r2, $; @%p1 bra L$; mul.lo.u32 %r2, %r2, 3;\nL$: bar.sync 0;\n"),
      accessing("branches", 5,
                "and.b32 %r3, %r2, 64; setp.ne.u32 %p1, %r3, 0; @%p1 bra L$;\n"
                "mul.lo.u32 %r2, %r2, 69069; st.global.u32 [%rd4+~], %r2;\nL$: add.u32 %r2, %r2, $;\n"),
      accessing("uniform branches", 4,
                "ld.global.u32 %r3, [%rd1+~]; setp.ne.u32 %p1, %r3, 5; @%p1 bra L$;\n"
                "st.global.u32 [%rd4], %r2;\nL$: add.u32 %r2, %r2, $;\n"),
      accessing("guarded stores", 3,
                "setp.lt.u32 %p1, %r2, $; @%p1 mul.lo.u32 %r2, %r2, 69069; @%p1 st.global.u32 [%rd4+~], %r2;\n"),
      accessing("guarded loads", 3,
                "setp.lt.u32 %p1, %r2, $; @%p1 ld.global.u32 %r3, [%rd4+~]; @%p1 add.u32 %r2, %r2, %r3;\n"),
      accessing("early exits", 4,
                "ld.global.u32 %r3, [%rd4+~]; setp.gt.u32 %p1, %r3, $; @%p1 bra DONE; add.u32 %r2, %r2, $;\n"),
      accessing("loops", 7,
                "mov.u32 %r3, 0;\nL$: mad.lo.u32 %r2, %r2, 5, $; add.u32 %r3, %r3, 1; ld.global.u32 %r5, [%rd1+~];\n"
                "and.b32 %r5, %r5, 7; setp.lt.u32 %p1, %r3, %r5; @%p1 bra L$;\n"),
      accessing("loops of different lengths", 7,
                "mov.u32 %r3, 0;\nL$: mad.lo.u32 %r2, %r2, 5, $; add.u32 %r3, %r3, 1; ld.global.u32 %r5, [%rd4+~];\n"
                "and.b32 %r5, %r5, 7; setp.lt.u32 %p1, %r3, %r5; @%p1 bra L$;\n"),
      jumping("jumps into loops"),
      numbered("calls", 1, "call (%r2), twist, (%r2);\n"),
  };
}

}  // namespace

const std::vector<CodeShape>& code_shapes() {
  static const std::vector<CodeShape> shapes = make_shapes();
  return shapes;
}

std::string make_kernel(const CodeShape& shape, unsigned instructions) {
  std::string text = kBegin;
  const unsigned count = instructions / shape.instructions;
  for (unsigned i = 0; i < count; ++i) text += shape.unit(i, count);
  return text + kEnd;
}

}  // namespace bench
