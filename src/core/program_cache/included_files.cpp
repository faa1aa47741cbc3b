#include "core/program_cache/included_files.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <unordered_set>

#include "core/program_cache/compiler_headers.hpp"
#include "core/program_cache/file_identity.hpp"
#include "core/program_cache/scanned_file.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;
using Reference = IncludeScan::Reference;

/// A file, or the text of the program, whose references are looked up.
struct Includer {
  std::string folder;  ///< with a '/' at the end, or empty
  bool of_compiler = false;
};

struct Found {
  std::string path;
  struct stat status;
  bool of_compiler;
};

struct SearchFolder {
  std::string prefix;
  bool of_compiler;
};

std::string with_slash(std::string folder) {
  if (!folder.empty() && folder.back() != '/') folder += '/';
  return folder;
}

std::string folder_of(const std::string& path) { return path.substr(0, path.rfind('/') + 1); }

bool is_same_folder(const std::string& a, const std::string& b) {
  struct stat first, second;
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

class Walk {
 public:
  Walk(const IncludeSearch& search, support::FieldWriter& key) : search_(search), key_(key) {
    for (const std::string& folder : search.user_folders) {
      bool of_compiler = false;  // many give the compiler's folder themselves
      for (const std::string& own : search.compiler_folders) of_compiler = of_compiler || is_same_folder(folder, own);
      folders_.push_back({with_slash(folder), of_compiler});
      if (!of_compiler) add_names_in(folder);
    }
    for (const std::string& folder : search.compiler_folders) folders_.push_back({with_slash(folder), true});
  }

  void look_up(const IncludeScan& scan, const Includer& includer) {
    // The compiler's headers compute names of other headers of the compiler.
    if (!includer.of_compiler && !scan.obstacle.empty()) hinder(scan.obstacle);
    for (const Reference& reference : scan.references) {
      look_up(reference.name, reference.quoted && search_.beside_includer ? &includer.folder : nullptr,
              includer.of_compiler);
    }
  }

  void look_up_pre_include(const std::string& name) {
    const std::string current_folder;
    look_up(name, &current_folder, false);
  }

  /// Looks up what the files include that were found.
  void follow() {
    while (!to_follow_.empty()) {
      const Found file = std::move(to_follow_.back());
      to_follow_.pop_back();
      const std::shared_ptr<const ScannedFile> scanned =
          S_ISREG(file.status.st_mode) ? scanned_file(file.path, file.status) : nullptr;
      if (!scanned) {
        hinder(text("'", file.path, "' can't be read"));
        continue;
      }
      key_.add(file.path).add(scanned->hash.high).add(scanned->hash.low);
      look_up(scanned->includes, {folder_of(file.path), file.of_compiler});
    }
  }

  const std::string& obstacle() const { return obstacle_; }

 private:
  void look_up(const std::string& name, const std::string* first_folder, bool by_compiler) {
    const std::optional<Found> found = find(name, first_folder, by_compiler);
    // That there is none is worth noting as well: one may come.
    key_.add(name).add(found ? std::string_view(found->path) : "");
    if (!found || !paths_.insert(found->path).second || !files_.insert(identity(*found)).second) return;
    if (found->of_compiler && !by_compiler && !can_be_replaced(*found)) {
      write_identity(key_, found->status);
    } else {
      to_follow_.push_back(*found);
    }
  }

  /// Whether the user's folders have anything that this header, or one that it includes, could include.
  bool can_be_replaced(const Found& header) const {
    if (users_names_.empty()) return false;
    const auto searched = names_searched_by(header.path, header.status,
                                            {search_.compiler_folders, search_.beside_includer, search_.notes});
    return std::any_of(users_names_.begin(), users_names_.end(),
                       [&](const std::string& name) { return searched->contains(name); });
  }

  void add_names_in(const std::string& folder) {
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
      users_names_.push_back(at->path().filename().string());
    }
  }

  std::optional<Found> find(const std::string& name, const std::string* first_folder, bool by_compiler) const {
    if (name.starts_with('/')) return file_at(name, false);
    if (first_folder) {
      if (auto found = file_at(*first_folder + name, by_compiler)) return found;
    }
    for (const SearchFolder& folder : folders_) {
      if (auto found = file_at(folder.prefix + name, folder.of_compiler)) return found;
    }
    return std::nullopt;
  }

  /// One file has many paths, such as a/a.h and a/../a/a.h. The folder counts too: the files beside may be others.
  static std::array<std::uint64_t, 4> identity(const Found& file) {
    const std::string folder = folder_of(file.path);
    struct stat status{};
    stat(folder.empty() ? "." : folder.c_str(), &status);
    return {file.status.st_dev, file.status.st_ino, status.st_dev, status.st_ino};
  }

  static std::optional<Found> file_at(std::string path, bool of_compiler) {
    Found found{std::move(path), {}, of_compiler};
    if (stat(found.path.c_str(), &found.status) != 0 || S_ISDIR(found.status.st_mode)) return std::nullopt;
    return found;
  }

  void hinder(std::string why) {
    if (obstacle_.empty()) obstacle_ = std::move(why);
  }

  const IncludeSearch& search_;
  support::FieldWriter& key_;
  std::vector<SearchFolder> folders_;
  std::vector<std::string> users_names_;  // in the user's folders
  std::vector<Found> to_follow_;
  std::unordered_set<std::string> paths_;  // that were found
  std::set<std::array<std::uint64_t, 4>> files_;
  std::string obstacle_;
};

}  // namespace

std::string write_included_files(std::string_view source, const std::vector<std::string>& pre_includes,
                                 const IncludeSearch& search, support::FieldWriter& key) {
  Walk walk(search, key);
  for (const std::string& name : pre_includes) walk.look_up_pre_include(name);
  walk.look_up(scan_includes(source), {search.source_folder});
  walk.follow();
  return walk.obstacle();
}

}  // namespace cuprum::core
