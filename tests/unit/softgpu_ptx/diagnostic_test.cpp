#include "softgpu/ptx/suggest.hpp"
#include "tests/unit/softgpu_ptx/ptx_text.hpp"

namespace softgpu::ptx {
namespace {

TEST(Diagnostics, GoOnAfterAnError) {
  const ParseResult result =
      parse(kernel_with("addd.u32 %r1, %r2;\nld.global.v2.u32 {%r1, %q2}, [%d1];\nmov.u32 %r1, 5;\nmov.u32 %r1, %zz;"));
  ASSERT_EQ(result.diagnostics.size(), 3u) << all_messages(result);
  EXPECT_EQ(result.diagnostics[0].where.line, 12u);
  EXPECT_EQ(result.diagnostics[1].where.line, 13u);
  EXPECT_EQ(result.diagnostics[1].where.column, 24u);
  EXPECT_EQ(result.diagnostics[2].where.line, 15u);
  EXPECT_FALSE(result.module);
}

TEST(Diagnostics, GoOnWithTheNextFunction) {
  const ParseResult result =
      parse(std::string(kHeader) +
            ".entry a(.bad) { ret; }\n.global .bad x = {1};\n.entry b() { bad; }\n.entry c() { ret; }");
  ASSERT_EQ(result.diagnostics.size(), 3u) << all_messages(result);
  EXPECT_EQ(result.diagnostics[0].where.line, 4u);
  EXPECT_EQ(result.diagnostics[1].where.line, 5u);
  EXPECT_EQ(result.diagnostics[2].where.line, 6u);
}

TEST(Diagnostics, StopAtTwenty) {
  std::string statements;
  for (int i = 0; i < 100; ++i) statements += "bad;\n";
  EXPECT_EQ(parse(kernel_with(statements)).diagnostics.size(), 20u);
}

TEST(Diagnostics, OfInvalidAndUnsupportedAreToldApart) {
  const ParseResult result = parse(kernel_with("bad;\nwgmma.fence.sync.aligned;"));
  ASSERT_EQ(result.diagnostics.size(), 2u);
  EXPECT_EQ(result.diagnostics[0].cause, Diagnostic::Cause::invalid);
  EXPECT_EQ(result.diagnostics[1].cause, Diagnostic::Cause::unsupported);
}

TEST(Suggestion, IsTheClosestName) {
  EXPECT_EQ(closest("ad", {"add", "sub"}), "add");
  EXPECT_EQ(closest("xyz", {"add", "sub"}), "");
  EXPECT_EQ(closest("%idx1", {"%idx", "%idx10", "%other"}), "%idx");
  EXPECT_EQ(closest(std::string(1000, 'a'), {"a"}), "");
}

}  // namespace
}  // namespace softgpu::ptx
