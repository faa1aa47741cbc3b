// Programs can cast any number to an enumeration: one that is no value is printed, and refused where it says what to
// do.
#include <gmock/gmock.h>

#include <cuprum/checkpoint.hpp>

#include "api/fixture.hpp"
#include "api/printed.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;

template <typename Enumeration>
std::string printed_99() {
  return printed(static_cast<Enumeration>(99));
}

TEST(Enumerations, PrintNumbersThatAreNoValue) {
  EXPECT_EQ(printed_99<Target>(), "an unknown value (99)");
  for (const std::string& printed :
       {printed_99<SourceCodeType>(), printed_99<CompilerBackendType>(), printed_99<PCHStatusType>(),
        printed_99<checkpoint::ProcessState>(), printed_99<LocationType>(), printed_99<ManagedMemoryLocationType>(),
        printed_99<VirtualMemoryAllocationType>(), printed_99<VirtualMemoryHandleType>(),
        printed_99<VirtualMemoryGranularityType>(), printed_99<VirtualMemoryAccessType>(),
        printed_99<texture::ArrayFormatType>(), printed_99<texture::AddressModeType>(), printed_99<pathfinder::Kind>(),
        printed_99<pathfinder::Via>()})
    EXPECT_EQ(printed, "an unknown value (99)");
}

class EnumerationTest : public ApiTest {};

TEST_F(EnumerationTest, ACompilationToWhatIsNoKindOfCodeIsRefused) {
  Program program("extern \"C\" __global__ void k() {}");
  EXPECT_THAT(error_of<InvalidArgument>([&] { (void)program.compile(static_cast<Target>(99)); }), HasSubstr("99"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { Program("source", static_cast<SourceCodeType>(99), {}); }),
              HasSubstr("99"));
}

TEST_F(EnumerationTest, AnArrayOfWhatIsNoFormatIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([&] {
                (void)device.create_opaque_array({.shape = {8}, .format = static_cast<texture::ArrayFormatType>(99)});
              }),
              HasSubstr("99"));
}

}  // namespace
}  // namespace cuprum::tests
