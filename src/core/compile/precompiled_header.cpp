#include "core/compile/precompiled_header.hpp"

#include <cerrno>
#include <cstdlib>
#include <cuprum/error.hpp>
#include <filesystem>

#include "support/read_file.hpp"
#include "support/text.hpp"

namespace cuprum::core {
namespace {

using support::text;

/// NVRTC writes precompiled headers to files alone.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::error_code error;
    const std::filesystem::path place = std::filesystem::temp_directory_path(error);
    if (error) refuse("the folder that TMPDIR names, or /tmp,", error.value());
    std::string pattern = (place / "cuprum-pch-XXXXXX").string();
    if (!mkdtemp(pattern.data())) refuse(pattern, errno);
    path_ = std::move(pattern);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  std::string file(const char* name) const { return (path_ / name).string(); }

 private:
  [[noreturn]] static void refuse(const std::string& folder, int error) {
    throw SystemError(text("a precompiled header needs a folder for a while, and ", folder, " can't be used"), error);
  }

  std::filesystem::path path_;
};

}  // namespace

detail::Code make_precompiled_header(detail::ProgramResource& program, const CompileOptions& options) {
  const std::string& name = program.options.name;
  if (!options.name_expressions.empty()) {
    throw InvalidArgument(text("a precompiled header, as that of '", name, "', has no kernels to name"));
  }
  const TemporaryFolder folder;
  ProgramOptions making = program.options;
  making.pch.reset();
  if (!making.create_pch) making.create_pch = folder.file("header.pch");
  const Program maker(program.source, making);
  maker.compile(Target::ptx, options);
  program.pch_status = maker.pch_status();
  if (maker.pch_status() != PCHStatusType::created) {
    throw CompileError(text("NVRTC made no precompiled header of '", name, "'"), "");
  }
  return {.type = Target::pch, .name = name, .bytes = support::read_file(*making.create_pch)};
}

}  // namespace cuprum::core
