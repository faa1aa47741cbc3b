// Archives (.a) of object files.
#pragma once

#include <string_view>
#include <vector>

#include "device_image/bytes.hpp"

namespace cuprum::device_image {

struct ArchiveMember {
  std::string_view name;  ///< as the archive shortens it
  Bytes contents;
};

/// Whether it is one. A thin one has no members, only their files' names.
bool starts_like_archive(Bytes image);
bool starts_like_thin_archive(Bytes image);

/// The members, without the tables of symbols and names. Throws Damaged unless all lie within the archive.
std::vector<ArchiveMember> read_archive(Bytes archive);

}  // namespace cuprum::device_image
