#include "softgpu/memory/shared_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "softgpu/memory/shared_heap.hpp"

namespace softgpu::memory {
namespace {

using Purpose = SharedFile::Purpose;

constexpr std::size_t kGiB = std::size_t{1} << 30;

struct Said {
  int a, b;
};

std::shared_ptr<SharedFile> open_again(const SharedFile& file, Purpose purpose) {
  return SharedFile::open(purpose, file.descriptor().duplicate());
}

TEST(SharedFile, IsFoundByItsDescriptor) {
  const auto file = SharedFile::create(Purpose::pool, 8192, Said{3, 4});
  const auto again = open_again(*file, Purpose::pool);
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->id(), file->id());
  EXPECT_EQ(again->bytes(), 8192u);
  EXPECT_EQ(again->properties<Said>().b, 4);
}

TEST(SharedFile, HasAnIdOfItsOwn) {
  EXPECT_NE(SharedFile::create(Purpose::pool, 4096, Said{})->id(),
            SharedFile::create(Purpose::pool, 4096, Said{})->id());
}

TEST(SharedFile, IsNotTakenForAnotherPurpose) {
  const auto file = SharedFile::create(Purpose::pool, 4096, Said{});
  EXPECT_EQ(open_again(*file, Purpose::event), nullptr);
}

TEST(SharedFile, OtherFilesAreRefused) {
  EXPECT_EQ(SharedFile::open(Purpose::pool, Descriptor()), nullptr);
  EXPECT_EQ(SharedFile::open(Purpose::pool, Descriptor(open("/dev/null", O_RDWR | O_CLOEXEC))), nullptr);
  Descriptor sealed(memfd_create("other", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(sealed.number(), 8 << 20), 0);
  ASSERT_EQ(fcntl(sealed.number(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), 0);
  EXPECT_EQ(SharedFile::open(Purpose::pool, std::move(sealed)), nullptr);
}

TEST(SharedFile, CantBeCutShort) {
  const auto file = SharedFile::create(Purpose::pool, 8192, Said{});
  EXPECT_NE(ftruncate(file->descriptor().number(), 0), 0);
}

TEST(SharedFile, FileWithoutTheSealsIsRefused) {
  const auto file = SharedFile::create(Purpose::pool, 4096, Said{});
  std::array<std::byte, 4096> header;
  ASSERT_EQ(pread(file->descriptor().number(), header.data(), header.size(), 0), 4096);
  Descriptor copy(memfd_create("copy", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(ftruncate(copy.number(), static_cast<off_t>(kHugePageBytes + 4096)), 0);
  ASSERT_EQ(pwrite(copy.number(), header.data(), header.size(), 0), 4096);
  EXPECT_EQ(SharedFile::open(Purpose::pool, std::move(copy)), nullptr);
}

TEST(SharedFile, IsOneMemoryInTwoPlaces) {
  AddressSpace space(kGiB);
  const auto file = SharedFile::create(Purpose::pool, 2 * kPageBytes, Said{});
  std::byte *first = space.claim(kPageBytes), *second = space.claim(kPageBytes);
  file->map_at(first, kPageBytes, kPageBytes, Access::read_write);
  file->map_at(second, kPageBytes, kPageBytes, Access::read);
  first[100] = std::byte{7};
  EXPECT_EQ(second[100], std::byte{7});
  file->discard(kPageBytes, kPageBytes);
  EXPECT_EQ(second[100], std::byte{0});
  space.unclaim(first, kPageBytes);
  space.unclaim(second, kPageBytes);
}

TEST(SharedFile, IsReadAndWrittenWithinItsBounds) {
  const auto file = SharedFile::create(Purpose::pool, kPageBytes, Said{});
  std::uint32_t value = 5, read = 0;
  EXPECT_TRUE(file->write(kPageBytes - 4, &value, 4));
  EXPECT_TRUE(file->read(kPageBytes - 4, &read, 4));
  EXPECT_EQ(read, 5u);
  EXPECT_FALSE(file->write(kPageBytes - 3, &value, 4));
  EXPECT_FALSE(file->read(SIZE_MAX, &read, 4));
  EXPECT_FALSE(file->contains(kPageBytes, 1));
}

class SharedHeaps : public testing::Test {
 protected:
  AddressSpace space_{kGiB};
  std::shared_ptr<Heap> account_ = std::make_shared<Heap>(space_, 16 * kPageBytes);
  std::shared_ptr<SharedHeap> exporter_ =
      std::make_shared<SharedHeap>(account_, SharedFile::create(Purpose::pool, SharedHeap::kFileBytes, Said{}));
  ImportedHeap importer_{space_, open_again(exporter_->file(), Purpose::pool)};
};

TEST_F(SharedHeaps, CountAsTheAccountsMemory) {
  std::byte* block = exporter_->allocate(10 * kPageBytes);
  EXPECT_EQ(account_->used(), 10 * kPageBytes);
  EXPECT_THROW(exporter_->allocate(10 * kPageBytes), OutOfMemory);
  exporter_->release(block, 10 * kPageBytes);
  EXPECT_EQ(account_->used(), 0u);
}

TEST_F(SharedHeaps, GiveZeroedMemoryAgain) {
  std::byte* block = exporter_->allocate(kPageBytes);
  block[0] = std::byte{1};
  exporter_->release(block, kPageBytes);
  std::byte* again = exporter_->allocate(kPageBytes);
  EXPECT_EQ(again[0], std::byte{0});
  exporter_->release(again, kPageBytes);
}

TEST_F(SharedHeaps, MapWhatIsExported) {
  std::byte* block = exporter_->allocate(4 * kPageBytes);
  const auto exported = exporter_->export_range(block + kPageBytes, 100);
  const auto record = importer_.find(exported->slot(), exported->serial());
  ASSERT_TRUE(record);
  EXPECT_EQ(record->bytes, 100u);
  std::byte* mapped = importer_.map(*record);
  block[kPageBytes + 5] = std::byte{9};
  EXPECT_EQ(mapped[5], std::byte{9});
  importer_.release(mapped, 100);
  exporter_->release(block, 4 * kPageBytes);
}

TEST_F(SharedHeaps, ForgetWhatIsWithdrawn) {
  std::byte* block = exporter_->allocate(kPageBytes);
  auto exported = exporter_->export_range(block, kPageBytes);
  const std::uint64_t slot = exported->slot(), serial = exported->serial();
  exported.reset();
  EXPECT_FALSE(importer_.find(slot, serial));
  exported = exporter_->export_range(block, kPageBytes);
  EXPECT_EQ(exported->slot(), slot);
  EXPECT_FALSE(importer_.find(slot, serial)) << "the slot is another export's";
  EXPECT_TRUE(importer_.find(slot, exported->serial()));
  exporter_->release(block, kPageBytes);
}

TEST_F(SharedHeaps, FindNothingWhereNothingIsExported) {
  EXPECT_FALSE(importer_.find(0, 0));
  EXPECT_FALSE(importer_.find(5, 1));
  EXPECT_FALSE(importer_.find(UINT64_MAX, 1));
}

TEST_F(SharedHeaps, AllocateNothingThatIsImported) { EXPECT_THROW(importer_.allocate(1), OutOfMemory); }

}  // namespace
}  // namespace softgpu::memory
