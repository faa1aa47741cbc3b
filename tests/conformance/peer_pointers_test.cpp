// Kernels that find addresses of another device's memory in memory: with access they use it, without they fault.
// softgpu runs these tests with three devices, as peer_test.cpp says.
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "conformance/driver.hpp"
#include "conformance/peer.hpp"

namespace conformance {
namespace {

// Each reads a word through an address that it finds in some memory, and writes it to `to`, if it does not say
// otherwise.
constexpr const char* kFinders = R"(.version 7.1
.target sm_80
.address_size 64
.visible .global .align 8 .u64 variable;
.visible .const .align 8 .u64 constant;
.visible .entry from_global(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.u64 %b, [%b];
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_variable(.param .u64 to) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to];
  ld.global.u64 %b, [variable];
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_constant(.param .u64 to) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to];
  ld.const.u64 %b, [constant];
  ld.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_shared(.param .u64 to, .param .u64 cell) {
  .shared .align 8 .b8 place[8];
  .reg .b64 %a, %b; .reg .b32 %v; .reg .pred %p;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  mov.u32 %v, %tid.x;
  setp.ne.u32 %p, %v, 0;
  @%p bra READ;
  ld.global.u64 %b, [%b];
  st.shared.u64 [place], %b;
READ:
  bar.sync 0;
  ld.shared.u64 %b, [place];
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_local(.param .u64 to, .param .u64 cell, .param .u32 which) {
  .local .align 8 .b8 places[16];
  .reg .b64 %a, %b, %c, %i; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell]; ld.param.u32 %v, [which];
  ld.global.u64 %c, [%b];
  st.local.u64 [places], %a;
  st.local.u64 [places+8], %c;
  mov.u64 %i, places;
  mul.wide.u32 %b, %v, 8;
  add.s64 %i, %i, %b;
  ld.local.u64 %b, [%i];
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_member(.param .align 8 .b8 pair[16]) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [pair]; ld.param.u64 %b, [pair+8];
  ld.global.u64 %b, [%b];
  ld.global.u32 %v, [%b+4];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_packed_member(.param .align 4 .b8 pair[20]) {
  .reg .b64 %a, %b; .reg .b32 %v, %w;
  ld.param.u32 %v, [pair]; ld.param.u32 %w, [pair+4]; mov.b64 %a, {%v, %w};
  ld.param.u32 %v, [pair+12]; ld.param.u32 %w, [pair+16]; mov.b64 %b, {%v, %w};
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_halves(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b; .reg .b32 %v, %w;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.u32 %v, [%b];
  ld.global.u32 %w, [%b+4];
  mov.b64 %b, {%v, %w};
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_other_lane(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b; .reg .b32 %v, %w;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.v2.u32 {%v, %w}, [%b];
  shfl.sync.idx.b32 %v, %v, 3, 31, -1;
  shfl.sync.idx.b32 %w, %w, 3, 31, -1;
  mov.b64 %b, {%v, %w};
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_bits(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.u64 %b, [%b];
  shl.b64 %b, %b, 16;
  shr.u64 %b, %b, 16;
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry at_an_offset(.param .u64 to, .param .u64 cell, .param .u64 offset) {
  .reg .b64 %a, %b, %c; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell]; ld.param.u64 %c, [offset];
  ld.global.u64 %b, [%b];
  add.s64 %b, %c, %b;
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry in_one_thread(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b; .reg .b32 %v; .reg .pred %p;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  mov.u32 %v, %tid.x;
  setp.ne.u32 %p, %v, 37;
  @%p bra DONE;
  ld.global.u64 %b, [%b];
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
DONE:
  ret;
}
.visible .entry by_atomics(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  atom.global.add.u64 %b, [%b], 0;
  atom.global.or.b32 %v, [%b], 0;
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry by_copy(.param .u64 to, .param .u64 cell) {
  .shared .align 16 .b8 place[16];
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.u64 %b, [%b];
  mov.u32 %v, place;
  cp.async.ca.shared.global [%v], [%b], 16;
  cp.async.wait_all;
  bar.sync 0;
  ld.shared.u32 %v, [place];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry by_writing(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.u64 %b, [%b];
  st.global.u32 [%b], 2;
  st.global.u32 [%a], 2;
  ret;
}
.visible .entry from_list_of_packed_addresses(.param .u64 to, .param .u64 cell, .param .u32 steps) {
  .reg .b64 %a, %b; .reg .b32 %v; .reg .pred %p;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell]; ld.param.u32 %v, [steps];
NEXT:
  ld.global.u64 %b, [%b];
  and.b64 %b, %b, 0xfffffffffff;
  shl.b64 %b, %b, 4;
  sub.u32 %v, %v, 1;
  setp.ne.u32 %p, %v, 0;
  @%p bra NEXT;
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_number(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b; .reg .b32 %v; .reg .f64 %d;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.f64 %d, [%b];
  cvt.rzi.u64.f64 %b, %d;
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_two_arguments(.param .u64 to, .param .u64 first, .param .u64 second) {
  .reg .b64 %a, %b, %c; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [first]; ld.param.u64 %c, [second];
  xor.b64 %b, %b, %c;
  ld.global.u32 %v, [%b];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry from_one_based_array(.param .u64 to, .param .u64 array) {
  .reg .b64 %a, %b; .reg .b32 %v;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [array];
  ld.global.u32 %v, [%b+4];
  st.global.u32 [%a], %v;
  ret;
}
.visible .entry not_used(.param .u64 to, .param .u64 cell) {
  .reg .b64 %a, %b;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [cell];
  ld.global.u64 %b, [%b];
  st.global.u64 [%a], %b;
  ret;
})";

struct Pair {
  CUdeviceptr first, second;
};
// The second one is at no multiple of its size.
struct PackedPair {
  std::array<std::uint32_t, 5> words;
  PackedPair(CUdeviceptr first, CUdeviceptr second)
      : words{static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32), 0,
              static_cast<std::uint32_t>(second), static_cast<std::uint32_t>(second >> 32)} {}
};

// Memory `cell` of device 0 holds the address of memory `far` of device 1, which holds twos.
class PeerPointer : public PeerFault {
 protected:
  void SetUp() override {
    PeerFault::SetUp();
    if (IsSkipped() || HasFailure()) return;
    to_ = allocate(0, 1);
    cell_ = allocate(0, 0);
    set_far(allocate(1, 2));
    module_ = std::make_unique<TestModule>(kFinders);
  }
  void set_far(CUdeviceptr far) {
    far_ = far;
    use(0);
    ASSERT_SUCCESS(CU(cuMemcpyHtoD)(cell_, &far, sizeof far));
  }
  void set_variable(const char* name) const {
    CUdeviceptr address = 0;
    ASSERT_SUCCESS(CU(cuModuleGetGlobal)(&address, nullptr, module_->get(), name));
    ASSERT_SUCCESS(CU(cuMemcpyHtoD)(address, &far_, sizeof far_));
  }
  // With access it works, and without it no more.
  template <typename... Arguments>
  void expect_use(const char* kernel, Arguments... arguments) {
    ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts_[1], 0));
    ASSERT_SUCCESS(run(*module_, kernel, arguments...));
    EXPECT_EQ(first_of(to_), 2);
    ASSERT_SUCCESS(CU(cuCtxDisablePeerAccess)(contexts_[1]));
    EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(*module_, kernel, arguments...));
    use(1);
    EXPECT_EQ(first_of(far_), 2) << "the other device is none the worse for it";
  }

  CUdeviceptr to_ = 0, cell_ = 0, far_ = 0;
  std::unique_ptr<TestModule> module_;
};
#define PEER_POINTER_TEST(name)                                                     \
  TEST_F(Peer, name) { EXPECT_EQ(run_in_child("PeerPointer.DISABLED_" #name), 0); } \
  TEST_F(PeerPointer, DISABLED_##name)

PEER_POINTER_TEST(AddressFoundInGlobalMemory) { expect_use("from_global", to_, cell_); }
PEER_POINTER_TEST(AddressFoundInAVariable) {
  set_variable("variable");
  expect_use("from_variable", to_);
}
PEER_POINTER_TEST(AddressFoundInConstantMemory) {
  set_variable("constant");
  expect_use("from_constant", to_);
}
PEER_POINTER_TEST(AddressFoundInSharedMemory) { expect_use("from_shared", to_, cell_); }
PEER_POINTER_TEST(AddressFoundInLocalMemory) { expect_use("from_local", to_, cell_, 1); }
PEER_POINTER_TEST(AddressFoundThroughAMember) { expect_use("from_member", Pair{to_, cell_}); }
PEER_POINTER_TEST(AddressInAPackedStructure) { expect_use("from_packed_member", PackedPair(to_, far_)); }
PEER_POINTER_TEST(AddressOfTwoHalves) { expect_use("from_halves", to_, cell_); }
PEER_POINTER_TEST(AddressOfAnotherLane) { expect_use("from_other_lane", to_, cell_); }
PEER_POINTER_TEST(AddressThatIsAPartOfAWord) { expect_use("from_bits", to_, cell_); }
PEER_POINTER_TEST(AddressWithAnOffsetThatIsAnArgument) { expect_use("at_an_offset", to_, cell_, std::uint64_t{8}); }
PEER_POINTER_TEST(AddressUsedByOneThread) { expect_use("in_one_thread", to_, cell_); }
PEER_POINTER_TEST(AddressUsedByAtomics) { expect_use("by_atomics", to_, cell_); }
PEER_POINTER_TEST(AddressUsedByCopies) { expect_use("by_copy", to_, cell_); }
PEER_POINTER_TEST(AddressUsedForWriting) { expect_use("by_writing", to_, cell_); }
PEER_POINTER_TEST(AddressInUnitsOf16BytesInAList) {
  const CUdeviceptr packed = far_ >> 4;
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(cell_, &packed, sizeof packed));
  expect_use("from_list_of_packed_addresses", to_, cell_, 1);
}
PEER_POINTER_TEST(AddressAsAFloatingPointNumber) {
  const auto number = static_cast<double>(far_);
  ASSERT_SUCCESS(CU(cuMemcpyHtoD)(cell_, &number, sizeof number));
  expect_use("from_number", to_, cell_);
}
PEER_POINTER_TEST(AddressThatTwoArgumentsAreTogether) {
  expect_use("from_two_arguments", to_, far_ ^ 0x5555'5555'5555'5555u, std::uint64_t{0x5555'5555'5555'5555u});
}
PEER_POINTER_TEST(AddressInFrontOfAnArrayWhoseFirstElementIsNumberOne) {
  expect_use("from_one_based_array", to_, far_ - 4);
}
PEER_POINTER_TEST(AddressInTheCode) {
  const std::string text =
      ".version 7.1\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 to, .param .u32 n) {"
      ".reg .b64 %a, %b; .reg .b32 %v; .reg .pred %p;"
      "ld.param.u64 %a, [to]; ld.param.u32 %v, [n]; setp.ne.u32 %p, %v, 0;"
      "selp.b64 %b, " +
      std::to_string(far_) + ", %a, %p; ld.global.u32 %v, [%b]; st.global.u32 [%a], %v; ret; }";
  module_ = std::make_unique<TestModule>(text.c_str());
  expect_use("k", to_, 1);
}

PEER_POINTER_TEST(AddressesThatAreFoundButNotUsedDoNoHarm) {
  ASSERT_SUCCESS(run(*module_, "not_used", to_, cell_));
  set_far(to_);
  EXPECT_SUCCESS(run(*module_, "from_global", to_, cell_));
  EXPECT_SUCCESS(run(*module_, "from_local", to_, cell_, 0));
}

PEER_POINTER_TEST(AddressOfAPoolsMemory) {
  const CUmemoryPool pool = make_pool(1);
  use(1);
  const TestStream stream;
  CUdeviceptr pooled = 0;
  ASSERT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&pooled, kBytes, pool, stream.get()));
  ASSERT_SUCCESS(CU(cuMemsetD32Async)(pooled, 7, kBytes / 4, stream.get()));
  ASSERT_SUCCESS(CU(cuStreamSynchronize)(stream.get()));
  set_far(pooled);
  ASSERT_SUCCESS(CU(cuCtxEnablePeerAccess)(contexts_[1], 0));  // which does not matter
  ASSERT_SUCCESS(give_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  ASSERT_SUCCESS(run(*module_, "from_global", to_, cell_));
  EXPECT_EQ(first_of(to_), 7);
  ASSERT_SUCCESS(give_access(pool, 0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(*module_, "from_global", to_, cell_));
}

PEER_POINTER_TEST(AddressOfMappedMemory) {
  const MappedMemory mapping(1);
  ASSERT_SUCCESS(mapping.give_access(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  use(1);
  ASSERT_SUCCESS(CU(cuMemsetD32)(mapping.get(), 9, 1));
  ASSERT_SUCCESS(CU(cuCtxSynchronize)());
  set_far(mapping.get());
  ASSERT_SUCCESS(mapping.give_access(0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
  ASSERT_SUCCESS(run(*module_, "from_global", to_, cell_));
  EXPECT_EQ(first_of(to_), 9);
  ASSERT_SUCCESS(mapping.give_access(0, CU_MEM_ACCESS_FLAGS_PROT_NONE));
  EXPECT_CUDA_ERROR(CUDA_ERROR_ILLEGAL_ADDRESS, run(*module_, "from_global", to_, cell_));
  use(1);
}

// ---- Random chains of pointers, against a model of which launch must fault

constexpr const char* kWalk = R"(.version 7.0
.target sm_75
.address_size 64
.visible .entry walk(.param .u64 to, .param .u64 start, .param .u32 steps) {
  .reg .b64 %a, %b; .reg .b32 %v, %sum, %n; .reg .pred %p;
  ld.param.u64 %a, [to]; ld.param.u64 %b, [start]; ld.param.u32 %n, [steps];
  mov.u32 %sum, 0;
NEXT:
  setp.eq.u32 %p, %n, 0;
  @%p bra DONE;
  ld.global.u32 %v, [%b+8];
  add.u32 %sum, %sum, %v;
  ld.global.u64 %b, [%b];
  sub.u32 %n, %n, 1;
  bra NEXT;
DONE:
  st.global.u32 [%a], %sum;
  ret;
})";

struct Node {
  CUdeviceptr next;
  std::uint32_t value, unused;
};

// Device 0 in a context of its own, which a fault may end; memory of device 1 of three kinds stays.
class Chains {
 public:
  Chains(CUcontext other, CUmemoryPool pool, unsigned seed) : other_(other), pool_(pool), random_(seed) {
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(other_));
    EXPECT_SUCCESS(CU(cuMemAlloc)(&bases_[kPeer], kBytes));
    EXPECT_SUCCESS(CU(cuMemAllocFromPoolAsync)(&bases_[kPool], kBytes, pool_, nullptr));
    EXPECT_SUCCESS(CU(cuCtxSynchronize)());
    EXPECT_SUCCESS(mapping_.give_access(1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    bases_[kMapped] = mapping_.get();
  }
  ~Chains() {
    EXPECT_SUCCESS(CU(cuCtxSetCurrent)(other_));
    EXPECT_SUCCESS(CU(cuMemFree)(bases_[kPeer]));
    EXPECT_SUCCESS(CU(cuMemFree)(bases_[kPool]));
  }
  Chains(const Chains&) = delete;
  Chains& operator=(const Chains&) = delete;

  // Launches with changing chains and rights, up to the first fault. Counts launches and faults.
  void round(int& launches, int& faults) {
    CUcontext context = nullptr;
    ASSERT_SUCCESS(CU(cuCtxCreate)(&context, nullptr, 0, 0));
    may_use_ = {true, false, false, false};
    change_access(kPool);
    change_access(kMapped);
    ASSERT_SUCCESS(CU(cuMemAlloc)(&bases_[kOwn], kBytes));
    const TestModule module(kWalk);
    for (int i = 0, faulted = 0; i < 8 && faulted == 0; ++i, ++launches) {
      change_access(1 + static_cast<int>(below(3)));
      step(context, module, faulted);
      faults += faulted;
    }
    ASSERT_SUCCESS(CU(cuCtxDestroy)(context));
  }

 private:
  enum Place : int { kOwn, kPeer, kPool, kMapped };
  static constexpr std::size_t kBytes = 4096;
  static constexpr std::size_t kNodes = kBytes / sizeof(Node) - 1;  // the first is for results

  unsigned below(unsigned end) { return std::uniform_int_distribution<unsigned>(0, end - 1)(random_); }

  void change_access(int place) {
    const bool may = below(2) != 0;
    const CUmemAccess_flags flags = may ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
    if (place == kPeer && may != may_use_[kPeer]) {
      ASSERT_SUCCESS(may ? CU(cuCtxEnablePeerAccess)(other_, 0) : CU(cuCtxDisablePeerAccess)(other_));
    }
    if (place == kPool) {
      CUmemAccessDesc access{};
      access.location = on(0);
      access.flags = flags;
      ASSERT_SUCCESS(CU(cuMemPoolSetAccess)(pool_, &access, 1));
    }
    if (place == kMapped) {
      ASSERT_SUCCESS(mapping_.give_access(0, flags));
    }
    may_use_[static_cast<std::size_t>(place)] = may;
  }

  struct Chain {
    std::vector<int> places;
    std::vector<CUdeviceptr> addresses;  // one more: the last node's `next`
    std::vector<std::uint32_t> values;
  };
  Chain random_chain() {
    Chain chain;
    const unsigned length = 1 + below(12);
    std::array<std::vector<bool>, 4> taken;
    taken.fill(std::vector<bool>(kNodes));
    for (unsigned i = 0; i <= length; ++i) {
      const auto place = below(2) != 0 ? 0u : below(4);
      unsigned node = below(kNodes);
      while (taken[place][node]) node = below(kNodes);
      taken[place][node] = true;
      chain.places.push_back(static_cast<int>(place));
      chain.addresses.push_back(bases_[place] + (1 + node) * sizeof(Node));
      chain.values.push_back(below(1000));
    }
    return chain;
  }
  // Each node by the device that has its memory.
  void write(CUcontext context, const Chain& chain) const {
    for (std::size_t i = 0; i + 1 < chain.addresses.size(); ++i) {
      const Node node{chain.addresses[i + 1], chain.values[i], 0};
      ASSERT_SUCCESS(CU(cuCtxSetCurrent)(chain.places[i] == kOwn ? context : other_));
      ASSERT_SUCCESS(CU(cuMemcpyHtoD)(chain.addresses[i], &node, sizeof node));
    }
    ASSERT_SUCCESS(CU(cuCtxSetCurrent)(context));
  }

  void step(CUcontext context, const TestModule& module, int& faulted) {
    const Chain chain = random_chain();
    write(context, chain);
    const unsigned steps = below(static_cast<unsigned>(chain.addresses.size()));
    std::uint32_t sum = 0, result = 0;
    bool faults = false;
    std::string path;
    for (unsigned i = 0; i < steps; ++i) {
      sum += chain.values[i];
      faults |= !may_use_[static_cast<std::size_t>(chain.places[i])];
      path += std::to_string(chain.places[i]) + ' ';
    }
    SCOPED_TRACE("places " + path + "access to " + std::to_string(may_use_[kPeer]) + std::to_string(may_use_[kPool]) +
                 std::to_string(may_use_[kMapped]));
    ASSERT_SUCCESS(
        launch(module.function("walk"), 1 + below(2), 1 + below(64), nullptr, bases_[kOwn], chain.addresses[0], steps));
    const CUresult outcome = CU(cuCtxSynchronize)();
    faulted = outcome != CUDA_SUCCESS;
    ASSERT_EQ(outcome, faults ? CUDA_ERROR_ILLEGAL_ADDRESS : CUDA_SUCCESS);
    if (faults) return;
    ASSERT_SUCCESS(CU(cuMemcpyDtoH)(&result, bases_[kOwn], sizeof result));
    EXPECT_EQ(result, sum);
  }

  CUcontext other_;
  CUmemoryPool pool_;
  MappedMemory mapping_{1};
  std::mt19937 random_;
  std::array<CUdeviceptr, 4> bases_{};
  std::array<bool, 4> may_use_{};
};

TEST_F(Peer, RandomChainsOfPointersFaultWhereAccessIsMissing) {
  if (!is_softgpu()) GTEST_SKIP() << "goes on after faults with a new context, which CUDA does not promise";
  const CUmemoryPool pool = make_pool(1);
  int launches = 0, faults = 0;
  {
    Chains chains(contexts_[1], pool, 20261118);
    for (int i = 0; i < 60 && !HasFailure(); ++i) chains.round(launches, faults);
  }
  EXPECT_GE(faults, 20) << "of " << launches;
  EXPECT_GE(launches - faults, 60) << "of " << launches;
  use(1);
  EXPECT_SUCCESS(CU(cuMemPoolDestroy)(pool));
}

}  // namespace
}  // namespace conformance
