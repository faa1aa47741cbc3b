#include "device_image/fatbin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device_image/fatbin_layout.hpp"
#include "unit/device_image/images.hpp"

namespace cuprum::device_image {
namespace {

using testing::HasSubstr;

using tests::zstd;

std::string fatbin(const std::vector<tests::RawEntry>& entries) { return tests::raw_fatbin(entries); }

std::vector<std::string> contents(const std::string& image) {
  std::vector<std::string> all;
  for (const FatbinEntry& entry : read_fatbin(bytes_of(image))) all.push_back(contents_of(entry));
  return all;
}

std::string damage_of(const std::string& image) {
  try {
    contents(image);
  } catch (const Damaged& damage) {
    return damage.what();
  }
  return "";
}

using Texts = std::vector<std::string>;

TEST(Fatbin, HoldsPlainAndCompressedEntries) {
  const std::string text(1000, 'x');
  EXPECT_EQ(contents(fatbin({{.payload = ".version 9.0"},
                             {.flags = 0x8011, .payload = zstd(text), .decompressed = 1000},
                             {.flags = 0x2011, .payload = "\x50hello", .decompressed = 5}})),
            (Texts{".version 9.0", text, "hello"}));
}

TEST(Fatbin, EntriesSayWhatTheyAre) {
  const std::string image = fatbin({{.kind = 2, .flags = 0x11 | 0x100000, .payload = ""},
                                    {.kind = 1, .flags = 0x11 | 0x200000},
                                    {.kind = 8, .flags = 0x11 | 0x10000}});
  const auto entries = read_fatbin(bytes_of(image));
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(entries[0].kind, EntryKind::cubin);
  EXPECT_EQ(real_name(entries[0].architecture), "sm_90a");
  EXPECT_EQ(entries[1].kind, EntryKind::ptx);
  EXPECT_EQ(virtual_name(entries[1].architecture), "compute_90f");
  EXPECT_EQ(entries[2].kind, EntryKind::ltoir);
  EXPECT_TRUE(entries[2].scrambled);
  EXPECT_THROW(contents_of(entries[2]), Damaged);
}

TEST(Fatbin, SeveralMayLieOneAfterTheOther) {
  const std::string two = fatbin({{.payload = "one"}}) + std::string(16, '\0') + fatbin({{.payload = "two"}});
  EXPECT_EQ(contents(two), (Texts{"one", "two"}));
}

TEST(Fatbin, EmptyOneHasNoEntries) { EXPECT_EQ(contents(fatbin({})), Texts{}); }

TEST(Fatbin, EveryTruncationIsRefused) {
  const std::string text(300, 'x');
  const std::string whole = fatbin({{.flags = 0x8011, .payload = zstd(text), .decompressed = 300}});
  for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_NE(damage_of(whole.substr(0, size)), "") << size;
}

TEST(Fatbin, WrongSizesAreRefused) {
  EXPECT_THAT(damage_of(fatbin({{.flags = 0x8011, .payload = "no zstd", .decompressed = 10}})),
              HasSubstr("can't be decompressed"));
  EXPECT_THAT(damage_of(fatbin({{.flags = 0x2011, .payload = "\x50hello", .decompressed = 6}})),
              HasSubstr("can't be decompressed"));
  EXPECT_THAT(damage_of(fatbin({{.flags = 0x8011, .payload = zstd("text"), .decompressed = ~std::uint64_t{0}}})),
              HasSubstr("can't be decompressed"));
  EXPECT_THAT(damage_of("no fatbin, but longer than its header"), HasSubstr("magic number"));
}

// Every field of both headers, one at a time, at its extremes: refused or read, never beyond the end.
TEST(Fatbin, NoHeaderLeadsBeyondTheEnd) {
  const std::string whole = write_fatbin(
      {{.kind = EntryKind::ptx, .architecture = {90}, .contents = "text", .identifier = "a.cu", .options = "-g"}});
  for (std::size_t at = 4; at + 4 <= 16 + 64 + 32; at += 2) {
    for (const std::uint32_t value : {0U, 1U, 63U, 65U, 0x7fffffffU, 0xffffffffU}) {
      std::string changed = whole;
      std::memcpy(changed.data() + at, &value, sizeof value);
      damage_of(changed);
    }
  }
}

TEST(WriteFatbin, WhatIsWrittenIsRead) {
  const std::string image = write_fatbin(
      {{.kind = EntryKind::cubin, .architecture = {90, 'a'}, .contents = "machine code", .identifier = "scale.cu"},
       {.kind = EntryKind::ptx,
        .architecture = {90},
        .contents = ".version 8.7\n.target sm_90",
        .options = "--compile-only"},
       {.kind = EntryKind::ltoir, .architecture = {80, 'f'}, .contents = "12345678"}});
  const auto entries = read_fatbin(bytes_of(image));
  ASSERT_EQ(entries.size(), 3U);
  EXPECT_EQ(real_name(entries[0].architecture), "sm_90a");
  EXPECT_EQ(entries[0].identifier, "scale.cu");
  EXPECT_EQ(entries[0].options, "");
  EXPECT_EQ(contents_of(entries[0]).substr(0, 12), "machine code") << "padding may follow";
  EXPECT_EQ(entries[1].options, "--compile-only");
  EXPECT_EQ(contents_of(entries[1]), ".version 8.7\n.target sm_90");
  EXPECT_EQ(real_name(entries[2].architecture), "sm_80f");
  EXPECT_EQ(contents_of(entries[2]), "12345678");
}

TEST(WriteFatbin, PtxEndsInAZeroForReadersThatNeedOne) {
  const std::string image = write_fatbin({{.kind = EntryKind::ptx, .contents = "12345678"}});
  EXPECT_EQ(image.substr(image.find("12345678")), std::string("12345678\0\0\0\0\0\0\0\0", 16));
}

TEST(WriteFatbin, HeaderTellsTheVersionOfThePtx) {
  const std::string image = write_fatbin({{.kind = EntryKind::ptx, .contents = "// made by hand\n.version 8.7\n"}});
  const auto header = read<FatbinEntryHeader>(bytes_of(image), sizeof(FatbinHeader), "the entry");
  EXPECT_EQ(header.major, 8);
  EXPECT_EQ(header.minor, 7);
}

TEST(FatbinAt, FindsTheExtentThroughTheWrapperToo) {
  const std::string image = fatbin({{.payload = "text"}});
  const FatbinWrapper wrapper{.magic = kFatbinWrapperMagic, .version = 1, .fatbin = image.data(), .unused = nullptr};
  for (const void* start : {static_cast<const void*>(image.data()), static_cast<const void*>(&wrapper)})
    EXPECT_EQ(text_of(fatbin_at(start)), image);
  const FatbinWrapper empty{.magic = kFatbinWrapperMagic, .version = 1, .fatbin = nullptr, .unused = nullptr};
  EXPECT_THROW(fatbin_at(&empty), Damaged);
  EXPECT_THROW(fatbin_at("text"), Damaged);
}

}  // namespace
}  // namespace cuprum::device_image
