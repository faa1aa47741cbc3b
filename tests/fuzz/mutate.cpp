// Calls a fuzz target with altered copies of good inputs, for builds without libFuzzer. Each run is the same as the
// last: the number of a round decides what it does.
//
//   fuzz_device_image 20000          # rounds 0 to 19999
//   fuzz_device_image 1 4711         # just that one
//   fuzz_device_image --seeds FOLDER # writes the good inputs, for libFuzzer
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "fuzz/target.hpp"

namespace {

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// The values that headers break on.
void overwrite(std::string& input, Random& random) {
  const std::uint64_t values[] = {0,
                                  1,
                                  7,
                                  8,
                                  63,
                                  64,
                                  0x7fff,
                                  0xffff,
                                  0x7fffffff,
                                  0xffffffff,
                                  ~std::uint64_t{0} >> 1,
                                  ~std::uint64_t{0} - 7,
                                  input.size(),
                                  input.size() - 1,
                                  input.size() + 1};
  const std::uint64_t value = values[below(random, std::size(values))];
  const std::size_t width = std::size_t{1} << below(random, 4);
  if (input.size() < width) return;
  std::memcpy(input.data() + below(random, input.size() - width + 1), &value, width);
}

void alter(std::string& input, Random& random, const std::vector<std::string>& others) {
  if (input.empty()) return;
  const std::size_t at = below(random, input.size()),
                    length = below(random, std::min<std::size_t>(input.size() - at, 64));
  switch (below(random, 6)) {
    case 0: input[at] = static_cast<char>(input[at] ^ (1 << below(random, 8))); break;
    case 1: overwrite(input, random); break;
    case 2: overwrite(input, random); break;
    case 3: input.resize(at); break;
    case 4: input.insert(below(random, input.size()), input.substr(at, length)); break;
    case 5: input.replace(at, length, others[below(random, others.size())].substr(0, length)); break;
  }
}

// The bytes end where a page does that nobody may touch, so that reading beyond them never goes unnoticed.
class Guarded {
 public:
  explicit Guarded(const std::string& input) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t readable = (input.size() + page - 1) / page * page;
    mapped_ = readable + page;
    memory_ =
        static_cast<std::uint8_t*>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) std::abort();
    mprotect(memory_ + readable, page, PROT_NONE);
    data_ = memory_ + readable - input.size();
    std::copy(input.begin(), input.end(), data_);
  }
  ~Guarded() { munmap(memory_, mapped_); }
  Guarded(const Guarded&) = delete;
  Guarded& operator=(const Guarded&) = delete;

  const std::uint8_t* data() const { return data_; }

 private:
  std::size_t mapped_ = 0;
  std::uint8_t* memory_ = nullptr;
  std::uint8_t* data_ = nullptr;
};

unsigned current_round = 0;

void tell_round(int signal) {
  char line[64];
  const int length = std::snprintf(line, sizeof line, "signal %d in round %u\n", signal, current_round);
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, static_cast<std::size_t>(length));
  _exit(1);
}

void run_round(const std::vector<std::string>& inputs) {
  Random random(current_round);
  std::string input = inputs[below(random, inputs.size())];
  for (std::size_t left = below(random, 6); left != 0; --left) alter(input, random, inputs);
  const Guarded guarded(input);
  LLVMFuzzerTestOneInput(guarded.data(), input.size());
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> inputs = good_inputs();
  if (count == 3 && std::string(arguments[1]) == "--seeds") {
    for (std::size_t i = 0; i < inputs.size(); ++i)
      std::ofstream(std::string(arguments[2]) + "/" + std::to_string(i), std::ios::binary) << inputs[i];
    return 0;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) std::signal(signal, tell_round);
  const auto rounds = static_cast<unsigned>(count > 1 ? std::atol(arguments[1]) : 10'000);
  const auto first = static_cast<unsigned>(count > 2 ? std::atol(arguments[2]) : 0);
  for (current_round = first; current_round != first + rounds; ++current_round) run_round(inputs);
  return 0;
}
