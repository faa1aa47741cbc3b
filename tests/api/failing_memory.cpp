// operator new of the test program, and so of the library: it can be made to fail.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cuprum/error.hpp>
#include <new>

#include "api/faults.hpp"

namespace cuprum::tests {
namespace {

void* allocate_or_fail(std::size_t size) {
  if (fault_at(FaultSort::memory, "operator new")) throw std::bad_alloc();
  if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
  throw std::bad_alloc();
}

/// What the exception that is being handled is, when it is not the one expected.
void expect_bad_alloc(const Fault&) {
  try {
    throw;
  } catch (const Error& error) {
    ADD_FAILURE() << "an allocation that failed became another exception: " << error.what();
  } catch (const std::bad_alloc&) {
    // As the library's contract says.
  } catch (const std::exception& error) {
    ADD_FAILURE() << "an allocation that failed became another exception: " << error.what();
  }
}

}  // namespace

void fail_each_allocation(const std::function<void()>& scenario, int may_be_swallowed) {
  scenario();  // what is looked up once
  Faults faults(FaultSort::memory);
  const FaultCounts single = faults.fail_each(0, false, scenario, expect_bad_alloc, {{"", "counted here"}});
  EXPECT_LE(single.swallowed, may_be_swallowed)
      << "of " << single.thrown + single.swallowed << " allocations; the first" << single.first_swallowed;
  EXPECT_GT(single.thrown, 0);
  const FaultCounts sticky = faults.fail_each(0, true, scenario, expect_bad_alloc, {{"", "counted here"}});
  EXPECT_LE(sticky.swallowed, may_be_swallowed)
      << "of " << sticky.thrown + sticky.swallowed << " allocations; the first" << sticky.first_swallowed;
}

}  // namespace cuprum::tests

void* operator new(std::size_t size) { return cuprum::tests::allocate_or_fail(size); }
void* operator new[](std::size_t size) { return cuprum::tests::allocate_or_fail(size); }
// All forms that go together: AddressSanitizer has its own of those that are left out, and compares.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size == 0 ? 1 : size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return std::malloc(size == 0 ? 1 : size); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
