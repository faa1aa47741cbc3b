#include "device_image/recognize.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_image/archive.hpp"
#include "device_image/elf.hpp"
#include "unit/device_image/images.hpp"

namespace cuprum::device_image {
namespace {

using testing::HasSubstr;
using tests::raw_archive;
using tests::raw_elf;
using tests::raw_fatbin;
using tests::raw_ltoir;

Image recognized(const std::string& bytes) {
  const std::optional<Image> image = recognize(bytes_of(bytes));
  EXPECT_TRUE(image);
  return image.value_or(Image());
}

std::string damage_of(const std::string& bytes) {
  try {
    recognize(bytes_of(bytes));
  } catch (const Damaged& damage) {
    return damage.what();
  }
  return "";
}

std::string host_object(const std::string& section = "__nv_relfatbin") {
  return raw_elf(
      {.machine = EM_X86_64,
       .type = ET_REL,
       .abi_version = 0,
       .sections = {{".text", "host code"},
                    {section, raw_fatbin({{.kind = 2, .payload = "code"}, {.payload = tests::ptx_text()}})}}});
}

TEST(Recognize, Ptx) {
  const Image image = recognized(tests::ptx_text());
  EXPECT_EQ(image.kind, ImageKind::ptx);
  EXPECT_EQ(architectures(image), "compute_90");
}

TEST(Recognize, Cubins) {
  const Image image = recognized(raw_elf());
  EXPECT_EQ(image.kind, ImageKind::cubin);
  EXPECT_EQ(architectures(image), "sm_90");
  EXPECT_FALSE(image.parts.at(0).is_relocatable);
  EXPECT_TRUE(recognized(raw_elf({.type = ET_REL})).parts.at(0).is_relocatable);
}

TEST(Recognize, CubinsOfCuda12KeepTheirArchitectureElsewhere) {
  EXPECT_EQ(architectures(recognized(raw_elf({.abi_version = 7, .flags = 0x00500550}))), "sm_80");
}

TEST(Recognize, Ltoir) {
  const Image image = recognized(raw_ltoir(1000));
  EXPECT_EQ(image.kind, ImageKind::ltoir);
  EXPECT_EQ(architectures(image), "lto_100a");
}

TEST(Recognize, Fatbins) {
  const Image image = recognized(raw_fatbin({{.kind = 2, .payload = "code"}, {.kind = 8}, {.architecture = 100}}));
  EXPECT_EQ(image.kind, ImageKind::fatbin);
  EXPECT_EQ(architectures(image), "sm_90, lto_90, compute_100");
}

TEST(Recognize, HostObjectsWithAndWithoutDeviceCode) {
  for (const char* section : {"__nv_relfatbin", ".nv_fatbin"}) {
    const Image image = recognized(host_object(section));
    EXPECT_EQ(image.kind, ImageKind::object);
    EXPECT_EQ(architectures(image), "sm_90, compute_90");
  }
  EXPECT_EQ(recognized(host_object(".data")).kind, ImageKind::object);
  EXPECT_TRUE(recognized(host_object(".data")).parts.empty());
}

TEST(Recognize, ArchivesWithAllTheirMembersCode) {
  const Image image = recognized(raw_archive({{"/", "symbols"},
                                              {"//", "names"},
                                              {"scale.o/", host_object()},
                                              {"readme/", "odd"},
                                              {"lto.o/", raw_ltoir()},
                                              {"scale.cubin/", raw_elf()}}));
  EXPECT_EQ(image.kind, ImageKind::archive);
  EXPECT_EQ(architectures(image), "sm_90, compute_90, lto_90a, sm_90");
}

TEST(Recognize, OtherThingsAreNothing) {
  for (const char* bytes : {"", "\n", "\177EL", "text", "extern \"C\" __global__ void f() {}", "\1\2\3\4\5\6\7"})
    EXPECT_FALSE(recognize(bytes_of(bytes))) << bytes;
}

TEST(Recognize, EveryTruncationIsRefused) {
  const std::string images[] = {raw_elf(), raw_elf({.type = ET_REL}), host_object(),
                                raw_fatbin({{.payload = "text"}, {.kind = 2, .payload = "code"}}),
                                raw_archive({{"a.o/", host_object()}})};
  for (const std::string& image : images) {
    for (std::size_t size = 8; size < image.size(); ++size) {
      if (size == SARMAG && image.starts_with(ARMAG)) continue;  // an archive of nothing
      EXPECT_THAT(damage_of(image.substr(0, size)), HasSubstr("is cut off")) << size << " of " << image.size();
    }
  }
  for (std::size_t size = 4; size <= 0x30; ++size)
    EXPECT_THAT(damage_of(raw_ltoir().substr(0, size)), HasSubstr("LTO-IR is cut off"));
}

TEST(Recognize, WrongHeadersAreRefused) {
  std::string elf = raw_elf();
  elf[EI_CLASS] = ELFCLASS32;
  EXPECT_THAT(damage_of(elf), HasSubstr("not of 64 bits"));
  elf = raw_elf();
  elf[offsetof(Elf64_Ehdr, e_shentsize)] = 1;
  EXPECT_THAT(damage_of(elf), HasSubstr("too short"));
  elf = raw_elf();
  elf[offsetof(Elf64_Ehdr, e_shnum) + 1] = '\x7f';
  EXPECT_THAT(damage_of(elf), HasSubstr("section table of the ELF file is cut off"));
  std::string archive = raw_archive({{"a.o/", raw_elf()}});
  archive[SARMAG + offsetof(ar_hdr, ar_size)] = 'x';
  EXPECT_THAT(damage_of(archive), HasSubstr("makes no sense"));
  EXPECT_THAT(damage_of("!<thin>\nnames"), HasSubstr("thin"));
}

TEST(Recognize, TellsWhichDevicesCanRunIt) {
  EXPECT_TRUE(runs_on(90, recognized(raw_elf())));
  EXPECT_FALSE(runs_on(100, recognized(raw_elf())));
  EXPECT_TRUE(runs_on(100, recognized(tests::ptx_text())));
  EXPECT_TRUE(runs_on(100, recognized(host_object())));
  EXPECT_FALSE(runs_on(80, recognized(host_object())));
  EXPECT_FALSE(runs_on(90, recognized(raw_ltoir()))) << "is to be linked";
}

TEST(Recognize, KindsHaveWords) {
  EXPECT_STREQ(description(ImageKind::ptx), "PTX");
  EXPECT_STREQ(description(ImageKind::archive), "an archive");
}

}  // namespace
}  // namespace cuprum::device_image
