// What the pathfinder knows of: a table of CUDA's libraries, headers and programs, and in which folders each is.
#pragma once

#include <cuprum/pathfinder.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::toolchain {

using pathfinder::Kind;

/// One thing to find: any of `files` in any of the folders.
struct Item {
  Kind kind;
  std::string name;
  std::vector<std::string> files;            ///< newest first; for headers one that the folder must have
  std::vector<std::string> wheel_folders;    ///< relative to site-packages
  std::vector<std::string> toolkit_folders;  ///< relative to a toolkit or a conda environment
  std::vector<std::string> needs;            ///< dynamic libraries to load before
  const char* variable;                      ///< environment variable that names the file; may be null
};

const std::vector<Item>& catalog();

/// Throws InvalidArgument that lists the names there are.
const Item& item(Kind kind, std::string_view name);

}  // namespace cuprum::toolchain
