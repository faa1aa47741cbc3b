// Descriptors as bytes: nothing that was not written by to_bytes() is read by from_bytes().
#include <fcntl.h>

#include "api/ipc_fixture.hpp"

namespace cuprum::tests {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;

/// One of the three kinds, as bytes and through the functions that read and write them.
struct Kind {
  const char* name;
  Bytes (*bytes)();
  Bytes (*read_and_write)(const Bytes&);
};

int some_descriptor() { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

const Kind kinds[] = {
    {"Pool", pool_bytes,
     [](const Bytes& bytes) { return IPCAllocationHandle::from_bytes(bytes, some_descriptor()).to_bytes(); }},
    {"Buffer", [] { return buffer_bytes(); },
     [](const Bytes& bytes) { return IPCBufferDescriptor::from_bytes(bytes).to_bytes(); }},
    {"Event", event_bytes, [](const Bytes& bytes) { return IPCEventDescriptor::from_bytes(bytes).to_bytes(); }},
};

class IpcDescriptorTest : public ::testing::TestWithParam<Kind> {
 protected:
  std::string refusal(const Bytes& bytes) {
    return error_of<InvalidArgument>([&] { GetParam().read_and_write(bytes); });
  }
  const Bytes good = GetParam().bytes();
  DescriptorsAreClosed check;
};

INSTANTIATE_TEST_SUITE_P(AllKinds, IpcDescriptorTest, ::testing::ValuesIn(kinds),
                         [](const auto& kind) { return kind.param.name; });

TEST_P(IpcDescriptorTest, BytesGoInAndOutUnchanged) { EXPECT_EQ(GetParam().read_and_write(good), good); }

TEST_P(IpcDescriptorTest, EveryTruncationIsRefused) {
  for (std::size_t length = 0; length < good.size(); ++length) {
    EXPECT_THAT(refusal(Bytes(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(length))),
                AllOf(HasSubstr("truncated"), HasSubstr("expected " + std::to_string(good.size()))))
        << length << " bytes";
  }
}

TEST_P(IpcDescriptorTest, EveryFlippedBitIsRefused) {
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = good;
      bad[i] ^= static_cast<std::byte>(1 << bit);
      EXPECT_THAT(refusal(bad), HasSubstr("refused the description of ")) << "byte " << i << ", bit " << bit;
    }
  }
}

TEST_P(IpcDescriptorTest, EveryOtherByteIsRefused) {
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bad = good;
    bad[i] = ~bad[i];
    EXPECT_NE(refusal(bad), "") << "byte " << i;
  }
}

TEST_P(IpcDescriptorTest, WithMoreBytesItIsRefused) {
  Bytes longer = good;
  longer.push_back(std::byte{0});
  EXPECT_THAT(refusal(longer), HasSubstr("it has " + std::to_string(longer.size()) + " bytes and says " +
                                         std::to_string(good.size()) + ": expected " + std::to_string(good.size())));
}

TEST_P(IpcDescriptorTest, AMegabyteIsRefused) { EXPECT_NE(refusal(Bytes(1 << 20, std::byte{0x43})), ""); }

TEST_P(IpcDescriptorTest, AnotherSizeThanItSaysIsRefused) {
  Bytes bad = good;
  put<std::uint32_t>(bad, layout::size, 0xffffffff);
  EXPECT_THAT(refusal(sealed(bad)), HasSubstr("says 4294967295"));
}

TEST_P(IpcDescriptorTest, SomethingElseIsRefused) {
  const std::string_view words =
      "not a descriptor at all, but long enough to be one if only the bytes were right ones...";
  Bytes bytes(good.size());
  std::memcpy(bytes.data(), words.data(), std::min(words.size(), bytes.size()));
  EXPECT_THAT(refusal(bytes), HasSubstr("it does not begin as one made by ipc_descriptor().to_bytes() does"));
}

TEST_P(IpcDescriptorTest, AnotherVersionIsRefusedWithBothVersions) {
  Bytes bad = good;
  put<std::uint16_t>(bad, layout::version, 7);
  EXPECT_THAT(refusal(sealed(bad)), HasSubstr("it has version 7 of the format and this library knows 1"));
}

TEST_P(IpcDescriptorTest, AnUnknownKindIsRefused) {
  Bytes bad = good;
  put<std::uint16_t>(bad, layout::kind, 99);
  EXPECT_THAT(refusal(sealed(bad)), HasSubstr("it describes something of kind 99"));
}

TEST_P(IpcDescriptorTest, TheOtherKindsAreRefusedByName) {
  for (const Kind& other : kinds) {
    if (std::string_view(other.name) == GetParam().name) continue;
    EXPECT_THAT(refusal(other.bytes()), HasSubstr("it describes a"));
  }
}

TEST_P(IpcDescriptorTest, UnknownFlagsAreRefused) {
  Bytes bad = good;
  put<std::uint32_t>(bad, layout::flags, 0x8000);
  EXPECT_THAT(refusal(sealed(bad)), HasSubstr("flags that this library does not know"));
}

TEST(IpcBufferDescriptor, TellsSizeAndPool) {
  const auto descriptor = IPCBufferDescriptor::from_bytes(buffer_bytes(12345));
  EXPECT_EQ(descriptor.size(), 12345u);
  EXPECT_EQ(descriptor.memory_resource_uuid().to_string(), "30313233-3435-3637-3839-3a3b3c3d3e3f");
}

TEST(IpcBufferDescriptor, IsEqualWhenItDescribesTheSame) {
  const auto one = IPCBufferDescriptor::from_bytes(buffer_bytes());
  Bytes other = buffer_bytes();
  other[layout::buffer_payload] ^= std::byte{1};
  EXPECT_EQ(one, IPCBufferDescriptor::from_bytes(one.to_bytes()));
  EXPECT_NE(one, IPCBufferDescriptor::from_bytes(sealed(other)));
  EXPECT_NE(one, IPCBufferDescriptor::from_bytes(buffer_bytes(1)));
}

TEST(IpcEventDescriptor, KeepsWhetherItBlocks) {
  EXPECT_FALSE(IPCEventDescriptor::from_bytes(event_bytes()).is_blocking_sync());
  Bytes blocking = event_bytes();
  put<std::uint32_t>(blocking, layout::flags, 1);
  const auto descriptor = IPCEventDescriptor::from_bytes(sealed(blocking));
  EXPECT_TRUE(descriptor.is_blocking_sync());
  EXPECT_TRUE(IPCEventDescriptor::from_bytes(descriptor.to_bytes()).is_blocking_sync());
}

TEST(IpcAllocationHandle, OwnsTheFileDescriptorUntilTheLastCopyGoes) {
  const int number = some_descriptor();
  {
    IPCAllocationHandle handle = IPCAllocationHandle::adopt(number);
    const IPCAllocationHandle copy = handle;
    EXPECT_EQ(handle.handle(), number);
    EXPECT_EQ(copy.handle(), number);
    EXPECT_NE(fcntl(number, F_GETFD), -1);
  }
  EXPECT_EQ(fcntl(number, F_GETFD), -1);
}

TEST(IpcAllocationHandle, CloseClosesForAllCopies) {
  DescriptorsAreClosed check;
  IPCAllocationHandle handle = IPCAllocationHandle::adopt(some_descriptor());
  const IPCAllocationHandle copy = handle;
  handle.close();
  handle.close();
  EXPECT_EQ(copy.handle(), -1);
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.to_bytes(); }), HasSubstr("this allocation handle is closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.uuid(); }), HasSubstr("closed"));
  EXPECT_THAT(error_of<InvalidArgument>([&] { copy.to_bytes(); }), HasSubstr("closed"));
}

TEST(IpcAllocationHandle, ANegativeFileDescriptorIsRefused) {
  EXPECT_THAT(error_of<InvalidArgument>([] { IPCAllocationHandle::adopt(-1); }), HasSubstr("negative"));
  EXPECT_THAT(error_of<InvalidArgument>([] { IPCAllocationHandle::from_bytes(pool_bytes(), -1); }),
              HasSubstr("negative"));
}

TEST(IpcAllocationHandle, TheFileDescriptorIsClosedWhenTheBytesAreRefused) {
  DescriptorsAreClosed check;
  error_of<InvalidArgument>([] { IPCAllocationHandle::from_bytes(event_bytes(), some_descriptor()); });
}

TEST(IpcAllocationHandle, HasNoUuidUnlessSomebodySaidOne) {
  EXPECT_FALSE(IPCAllocationHandle::adopt(some_descriptor()).is_pinned());
  EXPECT_EQ(IPCAllocationHandle::adopt(some_descriptor()).uuid(), std::nullopt);
  const Uuid uuid = Uuid::random();
  const auto named = IPCAllocationHandle::adopt(some_descriptor(), uuid);
  EXPECT_EQ(named.uuid(), uuid);
  EXPECT_EQ(IPCAllocationHandle::from_bytes(named.to_bytes(), some_descriptor()).uuid(), uuid);
  const auto nameless = IPCAllocationHandle::adopt(some_descriptor());
  EXPECT_EQ(IPCAllocationHandle::from_bytes(nameless.to_bytes(), some_descriptor()).uuid(), std::nullopt);
}

TEST(IpcAllocationHandle, AnUnknownPlaceIsRefused) {
  Bytes bad = pool_bytes();
  put<std::uint32_t>(bad, layout::place, 3);
  EXPECT_THAT(error_of<InvalidArgument>([&] { IPCAllocationHandle::from_bytes(sealed(bad), some_descriptor()); }),
              HasSubstr("a place that this library does not know"));
}

TEST(Uuid, RandomOnesDiffer) { EXPECT_NE(Uuid::random(), Uuid::random()); }

TEST(Uuid, RandomOnesSayThatTheyAreRandom) {
  EXPECT_THAT(Uuid::random().to_string(),
              MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
}

TEST(Uuid, ReadsWhatItWrites) {
  const Uuid uuid = Uuid::random();
  EXPECT_EQ(Uuid::parse(uuid.to_string()), uuid);
  EXPECT_EQ(Uuid::parse("F81D4FAE-7DEC-41D0-A765-00A0C91E6BF6").to_string(), "f81d4fae-7dec-41d0-a765-00a0c91e6bf6");
}

TEST(Uuid, ReadsWhatNvmlWrites) {
  const Uuid uuid = Uuid::random();
  EXPECT_EQ(Uuid::parse("GPU-" + uuid.to_string()), uuid);
}

TEST(Uuid, AnythingElseIsRefused) {
  for (const char* bad :
       {"", "f81d4fae", "f81d4fae-7dec-41d0-a765-00a0c91e6bf", "f81d4fae-7dec-41d0-a765-00a0c91e6bf6a",
        "f81d4fae07dec-41d0-a765-00a0c91e6bf6", "g81d4fae-7dec-41d0-a765-00a0c91e6bf6", "GPU-",
        "MIG-f81d4fae-7dec-41d0-a765-00a0c91e6bf6", "GPU-GPU-f81d4fae-7dec-41d0-a765-00a0c91e6bf6"}) {
    EXPECT_THAT(error_of<InvalidArgument>([&] { Uuid::parse(bad); }), HasSubstr("is not a UUID")) << bad;
  }
}

}  // namespace
}  // namespace cuprum::tests
