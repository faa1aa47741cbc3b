#include <cuprum/error.hpp>
#include <cuprum/pathfinder.hpp>
#include <map>
#include <mutex>
#include <ostream>

#include "support/enumeration.hpp"
#include "support/text.hpp"
#include "toolchain/search.hpp"

namespace cuprum::inline CUPRUM_ABI::pathfinder {
namespace {

using toolchain::Findings;
using toolchain::Item;
using toolchain::OpenLibrary;

// The libraries that were opened: those stay for the life of the process, and so does this list.
struct Opened {
  std::mutex mutex;
  std::map<std::string, LoadedLib, std::less<>> libraries;
};

Opened& opened() {
  static Opened& list = *new Opened;
  return list;
}

LoadedLib load(Opened& list, const Item& item) {
  const auto known = list.libraries.find(item.name);
  if (known != list.libraries.end()) return known->second;
  Findings findings = toolchain::look_for(item, toolchain::surroundings());
  for (const std::string& name : item.needs) {
    try {
      load(list, toolchain::item(Kind::dynamic_lib, name));
    } catch (const NotSupported&) {
      // The loader may know better where it is; if not, it says what is missing.
    }
  }
  const OpenLibrary library = toolchain::open_first(item, std::move(findings));
  return list.libraries.emplace(item.name, LoadedLib{library.located, library.library.handle()}).first->second;
}

constexpr const char* kind_names[] = {"dynamic library", "header directory", "bitcode library", "static library",
                                      "binary"};
constexpr const char* via_names[] = {"variable", "loaded", "wheel", "conda", "toolkit", "system", "default folder"};

}  // namespace

std::vector<std::string> supported(Kind kind) {
  std::vector<std::string> names;
  for (const Item& item : toolchain::catalog()) {
    if (item.kind == kind) names.push_back(item.name);
  }
  return names;
}

Located locate(Kind kind, std::string_view name) {
  const Item& item = toolchain::item(kind, name);
  const Findings findings = toolchain::look_for(item, toolchain::surroundings());
  if (findings.found.empty()) toolchain::refuse_missing(item, findings);
  return findings.found.front();
}

std::vector<Located> locate_all(Kind kind, std::string_view name) {
  return toolchain::look_for(toolchain::item(kind, name), toolchain::surroundings()).found;
}

LoadedLib load_dynamic_lib(std::string_view name) {
  const Item& item = toolchain::item(Kind::dynamic_lib, name);
  std::lock_guard lock(opened().mutex);
  return load(opened(), item);
}

void add_site_packages(std::string_view folder) {
  if (folder.empty()) throw InvalidArgument("the folder of Python packages has no name");
  toolchain::add_site_packages(folder);
}

std::ostream& operator<<(std::ostream& out, Kind kind) { return support::print_word(out, kind_names, kind); }
std::ostream& operator<<(std::ostream& out, Via via) { return support::print_word(out, via_names, via); }

}  // namespace cuprum::inline CUPRUM_ABI::pathfinder
