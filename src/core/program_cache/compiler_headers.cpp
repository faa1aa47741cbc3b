#include "core/program_cache/compiler_headers.hpp"

#include <map>
#include <mutex>
#include <optional>
#include <set>

#include "core/program_cache/file_identity.hpp"
#include "core/program_cache/include_scan.hpp"
#include "support/content_hash.hpp"
#include "support/read_file.hpp"

namespace cuprum::core {
namespace {

using Names = std::shared_ptr<const NameSet>;

bool is_file(const std::string& path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

class Search {
 public:
  explicit Search(const CompilerHeaders& headers) : headers_(headers) {}

  NameSet run(const std::string& header) {
    follow(header);
    while (!to_follow_.empty()) {
      const std::string path = std::move(to_follow_.back());
      to_follow_.pop_back();
      const std::string folder = path.substr(0, path.rfind('/') + 1);
      for (const IncludeScan::Reference& reference : scan_includes(support::read_file(path)).references) {
        look_up(reference, folder);
      }
    }
    return std::move(names_);
  }

 private:
  void look_up(const IncludeScan::Reference& reference, const std::string& folder) {
    const std::string& name = reference.name;
    if (reference.quoted && headers_.beside_includer && is_file(folder + name)) return follow(folder + name);
    names_.insert(name.substr(0, name.find('/')));
    for (const std::string& place : headers_.folders) {
      const std::string path = std::string(place).append("/").append(name);
      if (is_file(path)) return follow(path);
    }
  }

  void follow(const std::string& path) {
    struct stat status;
    if (stat(path.c_str(), &status) != 0) return;
    if (seen_.insert({status.st_dev, status.st_ino}).second) to_follow_.push_back(path);
  }

  const CompilerHeaders& headers_;
  NameSet names_;
  std::vector<std::string> to_follow_;
  std::set<std::pair<dev_t, ino_t>> seen_;
};

std::string key_of(const std::string& path, const struct stat& status, const CompilerHeaders& headers) {
  support::FieldWriter key;
  key.add("names searched by a header, 1").add(std::uint64_t{headers.beside_includer});
  write_identity(key.add(path), status);
  for (const std::string& folder : headers.folders) write_identity(key, folder);
  return to_string(support::content_hash(key.bytes()));
}

std::string names_to_bytes(const NameSet& names) {
  support::FieldWriter out;
  out.add_all(names);
  return out.bytes();
}

std::optional<NameSet> names_from_bytes(std::string_view bytes) {
  support::FieldReader in(bytes);
  const std::optional<std::uint64_t> count = in.number();
  if (!count) return std::nullopt;
  NameSet names;
  for (std::uint64_t index = 0; index < *count; ++index) {
    const std::optional<std::string_view> name = in.field();
    if (!name) return std::nullopt;
    names.emplace(*name);
  }
  return names;
}

void note(ProgramCacheResource* notes, const std::string& key, const NameSet& names) {
  try {
    if (notes) notes->set(key, names_to_bytes(names));
  } catch (const std::exception&) {
    return;  // the next process finds it out for itself
  }
}

Names look_up(const std::string& key, const std::string& path, const CompilerHeaders& headers) {
  const std::optional<std::string> noted = headers.notes ? headers.notes->get(key) : std::nullopt;
  std::optional<NameSet> names = noted ? names_from_bytes(*noted) : std::nullopt;
  if (!names) {
    names = Search(headers).run(path);
    note(headers.notes, key, *names);
  }
  return std::make_shared<const NameSet>(*std::move(names));
}

}  // namespace

Names names_searched_by(const std::string& path, const struct stat& status, const CompilerHeaders& headers) {
  static auto& known = *new std::map<std::string, Names>;
  static std::mutex mutex;
  const std::string key = key_of(path, status, headers);
  {
    std::lock_guard lock(mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  Names names = look_up(key, path, headers);
  std::lock_guard lock(mutex);
  return known.emplace(key, std::move(names)).first->second;
}

}  // namespace cuprum::core
