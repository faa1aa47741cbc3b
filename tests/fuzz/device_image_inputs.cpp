// Good images of every kind.
#include "fuzz/target.hpp"
#include "unit/device_image/images.hpp"

using namespace cuprum::tests;

std::vector<std::string> good_inputs() {
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
