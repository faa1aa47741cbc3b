#include "softgpu/forward/image.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/device_image/images.hpp"

namespace softgpu::forward {
namespace {

using cuprum::tests::ptx_text;
using cuprum::tests::raw_archive;
using cuprum::tests::raw_elf;
using cuprum::tests::raw_fatbin;
using cuprum::tests::raw_ltoir;
using cuprum::tests::RawElf;
using testing::ElementsAre;
using testing::IsEmpty;
namespace image = cuprum::device_image;

constexpr std::uint16_t kPtx = 1, kCubin = 2, kLtoIr = 8;

std::string ptx_for(unsigned architecture) {
  return ".version 8.7\n.target sm_" + std::to_string(architecture) + "\n.address_size 64\n";
}

RawElf host_object(const std::string& section, const std::string& contents) {
  return {.machine = EM_X86_64, .type = ET_REL, .abi_version = 0, .flags = 0, .sections = {{section, contents}}};
}

// What with_ptx() made, by the reader that softgpu uses.
std::vector<std::string> contents(const std::string& fatbin, image::EntryKind kind) {
  std::vector<std::string> found;
  for (const image::FatbinEntry& entry : image::read_fatbin(image::bytes_of(fatbin))) {
    if (entry.kind == kind) found.push_back(image::contents_of(entry));
  }
  return found;
}

TEST(WithPtx, HoldsMachineCodeAndEveryModule) {
  const std::string cubin = raw_elf();
  const std::string fatbin = with_ptx(cubin, {ptx_for(90), ptx_for(80)});
  EXPECT_THAT(contents(fatbin, image::EntryKind::cubin), ElementsAre(cubin));
  EXPECT_THAT(contents(fatbin, image::EntryKind::ptx), ElementsAre(ptx_for(90), ptx_for(80)));
  const auto entries = image::read_fatbin(image::bytes_of(fatbin));
  EXPECT_EQ(entries[0].architecture.number, 90u);
  EXPECT_EQ(entries[1].architecture, entries[2].architecture) << "so that softgpu takes both";
  EXPECT_EQ(entries[2].architecture.number, 90u);
}

TEST(WithPtx, LeavesAloneWhatItCanNotServe) {
  EXPECT_EQ(with_ptx(raw_elf(), {}), raw_elf());
  const std::string cut = raw_elf().substr(0, 100);
  EXPECT_EQ(with_ptx(cut, {ptx_text()}), cut);
}

TEST(KeptPtx, IsTheTextOfEachModule) {
  const auto kept = [](const std::string& text) { return std::string(8, '\0') + text; };
  using namespace std::string_literals;
  const std::string cubin = raw_elf({.sections = {{".text.kernel", "code"},
                                                  {".nv_debug_ptx_txt.1", kept(".version 9.0\0.target sm_90\0"s)},
                                                  {".nv_debug_ptx_txt.22", kept("second\0"s)}}});
  EXPECT_THAT(kept_ptx(cubin), ElementsAre(".version 9.0\n.target sm_90\n", "second\n"));
  EXPECT_THAT(kept_ptx(raw_elf()), IsEmpty());
  EXPECT_THAT(kept_ptx(cubin.substr(0, cubin.size() / 2)), IsEmpty());
  EXPECT_THAT(kept_ptx(""), IsEmpty());
}

TEST(RegisterLimit, IsForKernelsWithoutTheirOwn) {
  EXPECT_EQ(
      with_register_limit(".entry a(.param .u64 p) { ret; }\n.func f() { ret; }\n.entry b()\n.maxntid 8\n{ ret; }", 40),
      ".entry a(.param .u64 p) .maxnreg 40\n{ ret; }\n.func f() { ret; }\n.entry b()\n.maxntid 8\n.maxnreg 40\n{ ret; "
      "}");
  for (const std::string text : {".entry a() .maxnreg 8 { ret; }", ".extern .entry a();", ".entry", ""})
    EXPECT_EQ(with_register_limit(text, 40), text);
}

TEST(BareCubin, IsWhatWasPutIn) {
  const std::string cubin = raw_elf();
  const std::string fatbin = with_ptx(cubin, {ptx_text()});
  EXPECT_EQ(bare_cubin(fatbin), cubin);
}

TEST(BareCubin, LeavesOtherImagesAlone) {
  const std::string ptx_only = raw_fatbin({{.kind = kPtx, .payload = ptx_text()}});
  for (const std::string& other : {raw_elf(), ptx_text(), ptx_only, ptx_only.substr(0, 30), std::string()}) {
    EXPECT_EQ(bare_cubin(other), other);
  }
}

TEST(PartsOf, PtxIsItself) {
  const Parts parts = parts_of(ptx_text() + '\0', 90);
  EXPECT_THAT(parts.ptx, ElementsAre(ptx_text()));
  EXPECT_TRUE(parts.is_complete);
  EXPECT_FALSE(parts.has_ltoir);
}

TEST(PartsOf, MachineCodeAloneIsNotComplete) {
  EXPECT_FALSE(parts_of(raw_elf(), 90).is_complete);
  EXPECT_FALSE(parts_of(raw_fatbin({{.kind = kCubin, .payload = raw_elf()}}), 90).is_complete);
}

TEST(PartsOf, LtoIrIsForTheSecondLink) {
  EXPECT_TRUE(parts_of(raw_ltoir(), 90).has_ltoir);
  const Parts parts =
      parts_of(raw_fatbin({{.kind = kPtx, .payload = ptx_text()}, {.kind = kLtoIr, .payload = raw_ltoir()}}), 90);
  EXPECT_TRUE(parts.has_ltoir);
  EXPECT_TRUE(parts.is_complete);
  EXPECT_THAT(parts.ptx, IsEmpty());
}

TEST(PartsOf, TakesTheNewestPtxThatTheDeviceCanTake) {
  const std::string fatbin = raw_fatbin({{.kind = kPtx, .payload = ptx_for(80), .architecture = 80},
                                         {.kind = kPtx, .payload = ptx_for(100), .architecture = 100},
                                         {.kind = kPtx, .payload = ptx_for(90), .architecture = 90},
                                         {.kind = kPtx, .payload = ptx_for(75), .architecture = 75}});
  EXPECT_THAT(parts_of(fatbin, 90).ptx, ElementsAre(ptx_for(90)));
  EXPECT_THAT(parts_of(fatbin, 86).ptx, ElementsAre(ptx_for(80)));
  EXPECT_FALSE(parts_of(fatbin, 70).is_complete);
}

TEST(PartsOf, LooksIntoObjectsAndArchives) {
  const std::string fatbin = raw_fatbin({{.kind = kPtx, .payload = ptx_text()}});
  const std::string object = raw_elf(host_object("__nv_relfatbin", fatbin));
  EXPECT_THAT(parts_of(object, 90).ptx, ElementsAre(ptx_text()));
  const std::string archive = raw_archive({{"a.o", object}, {"b.o", raw_elf(host_object(".text", "host code"))}});
  const Parts parts = parts_of(archive, 90);
  EXPECT_THAT(parts.ptx, ElementsAre(ptx_text()));
  EXPECT_TRUE(parts.is_complete);
}

TEST(PartsOf, DoesWithoutTheMachineCodeOfLibraries) {
  const std::string with = raw_elf(host_object("__nv_relfatbin", raw_fatbin({{.kind = kPtx, .payload = ptx_text()}})));
  const std::string without =
      raw_elf(host_object("__nv_relfatbin", raw_fatbin({{.kind = kCubin, .payload = "machine code"}})));
  EXPECT_FALSE(parts_of(without, 90).is_complete);
  const Parts parts = parts_of(raw_archive({{"without.o", without}, {"with.o", with}}), 90);
  EXPECT_TRUE(parts.is_complete);
  EXPECT_THAT(parts.ptx, ElementsAre(ptx_text()));
}

TEST(PartsOf, SaysOfDamagedImagesThatTheyAreNotComplete) {
  const std::string fatbin = raw_fatbin({{.kind = kPtx, .payload = ptx_text()}});
  for (std::size_t size = 0; size < fatbin.size(); ++size) {
    EXPECT_FALSE(parts_of(fatbin.substr(0, size), 90).is_complete) << size;
  }
  EXPECT_FALSE(parts_of("nothing in particular", 90).is_complete);
}

}  // namespace
}  // namespace softgpu::forward
