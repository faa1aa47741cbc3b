// Folders that look like a machine with CUDA on it, and the surroundings that lead a search into them only.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cuprum/error.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "support/text.hpp"
#include "toolchain/search.hpp"

namespace cuprum::toolchain {

namespace fs = std::filesystem;

/// The folder is gone after the test.
class FakeTree : public ::testing::Test {
 protected:
  FakeTree() {
    std::string pattern = (fs::temp_directory_path() / "cuprum-tree-XXXXXX").string();
    root = fs::canonical(mkdtemp(pattern.data()));
    around.variable = [this](const char* name) -> std::optional<std::string> {
      auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    };
    around.executable = "/usr/bin/a.out";
    around.invoked_as = "a.out";
    around.loaded = [this](const std::string& name) { return look_up(loaded, name); };
    around.linked = [this](const std::string& name) { return look_up(linked, name); };
  }
  ~FakeTree() override { fs::remove_all(root); }

  /// The path of a file that is made, with its folders.
  fs::path file(const fs::path& path, const std::string& contents = "contents") {
    fs::create_directories((root / path).parent_path());
    std::ofstream(root / path) << contents;
    return root / path;
  }

  fs::path copy(const char* original, const fs::path& path) {
    fs::create_directories((root / path).parent_path());
    fs::copy_file(original, root / path);
    return root / path;
  }

  std::vector<std::string> paths(const Findings& findings) const {
    std::vector<std::string> result;
    for (const Located& located : findings.found) result.push_back(fs::relative(located.path, root).string());
    return result;
  }

  fs::path root;
  std::map<std::string, std::string> variables;
  std::map<std::string, fs::path> loaded;  // what the process has loaded, by soname
  std::map<std::string, fs::path> linked;  // what the system's linker finds
  Surroundings around;

 private:
  static std::optional<fs::path> look_up(const std::map<std::string, fs::path>& map, const std::string& name) {
    auto found = map.find(name);
    if (found == map.end()) return std::nullopt;
    return found->second;
  }
};

template <typename E, typename Statement>
std::string error_of(Statement&& statement) {
  try {
    statement();
  } catch (const E& error) {
    return error.what();
  }
  ADD_FAILURE() << "no exception";
  return {};
}

}  // namespace cuprum::toolchain
