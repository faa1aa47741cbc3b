// Calls a fuzz target with altered copies of good images, for builds without libFuzzer. Each run is the same as the
// last: the number of a round decides what it does.
//
//   fuzz_device_image 20000          # rounds 0 to 19999
//   fuzz_device_image 1 4711         # just that one
//   fuzz_device_image --seeds FOLDER # writes the good images, for libFuzzer
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <string>

#include "unit/device_image/images.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using namespace cuprum::tests;

std::vector<std::string> good_images() {
  const std::string text = ptx_text() + std::string(200, ' ');
  const std::string fatbin = raw_fatbin({{.payload = text},
                                         {.flags = 0x8011, .payload = zstd(text), .decompressed = text.size()},
                                         {.flags = 0x2011, .payload = "\x50hello", .decompressed = 5},
                                         {.kind = 2, .payload = raw_elf()},
                                         {.kind = 8, .flags = 0x18011, .payload = "scrambled"}});
  const std::string object = raw_elf({.machine = EM_X86_64,
                                      .type = ET_REL,
                                      .abi_version = 0,
                                      .sections = {{".text", "code"}, {".nv_fatbin", fatbin}}});
  return {text,
          fatbin,
          raw_elf(),
          raw_elf({.type = ET_REL}),
          object,
          raw_ltoir(),
          fatbin + std::string(8, '\0') + fatbin,
          raw_archive({{"a.o/", object}, {"b.cubin/", raw_elf()}, {"c.ltoir/", raw_ltoir()}})};
}

using Random = std::mt19937;

std::size_t below(Random& random, std::size_t limit) { return limit == 0 ? 0 : random() % limit; }

// The values that headers break on.
void overwrite(std::string& image, Random& random) {
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
                                  image.size(),
                                  image.size() - 1,
                                  image.size() + 1};
  const std::uint64_t value = values[below(random, std::size(values))];
  const std::size_t width = std::size_t{1} << below(random, 4);
  if (image.size() < width) return;
  std::memcpy(image.data() + below(random, image.size() - width + 1), &value, width);
}

void alter(std::string& image, Random& random, const std::vector<std::string>& others) {
  if (image.empty()) return;
  const std::size_t at = below(random, image.size()),
                    length = below(random, std::min<std::size_t>(image.size() - at, 64));
  switch (below(random, 6)) {
    case 0: image[at] = static_cast<char>(image[at] ^ (1 << below(random, 8))); break;
    case 1: overwrite(image, random); break;
    case 2: overwrite(image, random); break;
    case 3: image.resize(at); break;
    case 4: image.insert(below(random, image.size()), image.substr(at, length)); break;
    case 5: image.replace(at, length, others[below(random, others.size())].substr(0, length)); break;
  }
}

// The bytes end where a page does that nobody may touch, so that reading beyond them never goes unnoticed.
class Guarded {
 public:
  explicit Guarded(const std::string& image) {
    const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
    const std::size_t readable = (image.size() + page - 1) / page * page;
    mapped_ = readable + page;
    memory_ =
        static_cast<std::uint8_t*>(mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (memory_ == MAP_FAILED) std::abort();
    mprotect(memory_ + readable, page, PROT_NONE);
    data_ = memory_ + readable - image.size();
    std::copy(image.begin(), image.end(), data_);
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

void run_round(const std::vector<std::string>& images) {
  Random random(current_round);
  std::string image = images[below(random, images.size())];
  for (std::size_t left = below(random, 6); left != 0; --left) alter(image, random, images);
  const Guarded guarded(image);
  LLVMFuzzerTestOneInput(guarded.data(), image.size());
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string> images = good_images();
  if (count == 3 && std::string(arguments[1]) == "--seeds") {
    for (std::size_t i = 0; i < images.size(); ++i)
      std::ofstream(std::string(arguments[2]) + "/" + std::to_string(i), std::ios::binary) << images[i];
    return 0;
  }
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT}) std::signal(signal, tell_round);
  const auto rounds = static_cast<unsigned>(count > 1 ? std::atol(arguments[1]) : 10'000);
  const auto first = static_cast<unsigned>(count > 2 ? std::atol(arguments[2]) : 0);
  for (current_round = first; current_round != first + rounds; ++current_round) run_round(images);
  return 0;
}
