// Everything that reads images of device code, on any bytes: it may throw Damaged and nothing else, and what it accepts
// must survive being written and read again. In the form that libFuzzer calls.
#include "device_image/archive.hpp"
#include "device_image/elf.hpp"
#include "device_image/ptx_text.hpp"
#include "device_image/recognize.hpp"
#include "fuzz/target.hpp"

namespace {

using namespace cuprum::device_image;
using cuprum::tests::require;

template <typename Body>
void allowing_damage(Body&& body) {
  try {
    body();
  } catch (const Damaged& damage) {
    require(damage.what()[0] != '\0', "damage has words");
  }
}

// What is not PTX keeps the zeros that it was padded with.
bool same_but_padding(const std::string& written, const std::string& read) {
  return read.starts_with(written) && read.find_first_not_of('\0', written.size()) == std::string::npos;
}

void check_entry(const FatbinEntry& entry) {
  const std::string contents = contents_of(entry);
  const FatbinImage image{.kind = entry.kind,
                          .architecture = entry.architecture,
                          .contents = contents,
                          .identifier = entry.identifier,
                          .options = entry.options};
  const std::string written = write_fatbin({image});
  const auto again = read_fatbin(bytes_of(written));
  require(again.size() == 1, "one entry is written as one");
  require(again[0].kind == entry.kind && again[0].architecture == entry.architecture, "an entry keeps what it is");
  require(again[0].identifier == entry.identifier, "an entry keeps its identifier");
  require(same_but_padding(contents, contents_of(again[0])), "an entry keeps its contents");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  allowing_damage([&] {
    if (const auto image = recognize(bytes)) {
      require(image->kind == ImageKind::archive || architectures(*image).empty() == image->parts.empty(),
              "every part has an architecture");
      runs_on(90, *image);
    }
  });
  allowing_damage([&] { read_elf(bytes); });
  allowing_damage([&] { read_archive(bytes); });
  read_ptx_header(text_of(bytes));
  allowing_damage([&] {
    for (const FatbinEntry& entry : read_fatbin(bytes)) allowing_damage([&] { check_entry(entry); });
  });
  return 0;
}
