// Green contexts: two parts of one device, each with work of its own. A long kernel on one part does not hold up short
// ones on the other, which would wait behind it on the whole device.
#include <cuprum/cuprum.hpp>
#include <iostream>

#include "check.hpp"

using namespace cuprum;

namespace {

const char* const source = R"(
// Waits for the host, on as many multiprocessors as there are blocks for.
extern "C" __global__ void wait_for_host(volatile int* is_open) { while (!*is_open) __nanosleep(1000); }
extern "C" __global__ void add(int* value, int amount) { *value += amount; }
)";

void example() {
  Device device;
  device.set_current();
  const SMResource all = device.resources().sm();
  std::cout << all << "; groups have " << all.min_partition_size() << " or more, in steps of "
            << all.coscheduled_alignment() << '\n';

  // Two equal parts, if the device is large enough; else one context gets all of it, and the other one too.
  const int half = all.sm_count() / 2 / all.coscheduled_alignment() * all.coscheduled_alignment();
  const bool is_divided = half >= all.min_partition_size();
  std::vector<SMResource> parts = {all, all};
  if (is_divided) {
    const SMSplit split = all.split({.count = {half, half}});
    parts = split.groups;
    std::cout << "two parts of " << parts[0].sm_count() << ", and " << split.remainder << " that are left\n";
  }
  const Context left = device.create_context({.resources = {parts[0]}});
  const Context right = device.create_context({.resources = {parts[1]}});
  check(left.is_green() && right.is_green(), "contexts that were given a part are green");
  check(left.resources().sm().sm_count() == parts[0].sm_count(), "a context knows what it was given");

  // Memory and code are the device's, and shared by all its green contexts.
  const ObjectCode code = Program(source).compile(Target::cubin);
  const Kernel wait_for_host = code.get_kernel("wait_for_host"), add = code.get_kernel("add");
  const Stream slow = left.create_stream(), quick = right.create_stream();
  const Buffer shared = PinnedMemoryResource().allocate<int>(2, quick);
  int* const values = shared.as_span<int>().data();
  values[0] = values[1] = 0;

  launch(slow, {.grid = 4, .block = 1}, wait_for_host, shared.handle());
  for (int i = 0; i < 10; ++i) launch(quick, {.grid = 1, .block = 1}, add, shared.handle() + sizeof(int), i);
  quick.sync();
  check(values[1] == 45, "the right part did its work");
  check(!slow.is_done(), "while the left part is still busy");
  *static_cast<volatile int*>(values) = 1;
  slow.sync();
  check(slow.resources().sm().sm_count() == parts[0].sm_count(), "a stream has the resources of its context");
}

}  // namespace

int main() { return run(example); }
