// Caches of compiled programs. Program::compile uses the user's cache folder without being told; give it another cache,
// or none:
//
//   InMemoryProgramCache cache;
//   ObjectCode first = program.compile(Target::cubin, {.cache = &cache});   // compiles
//   ObjectCode second = program.compile(Target::cubin, {.cache = &cache});  // doesn't
//   ObjectCode third = program.compile(Target::cubin, {.cache = nullptr});  // compiles
//
// docs/guide/compiling.md says what makes two compilations the same one.
#pragma once

#include <cstddef>
#include <cuprum/detail/export.hpp>
#include <cuprum/program.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace cuprum::inline CUPRUM_ABI {

/// What is stored under a key, and what belongs to it.
struct ProgramCacheEntry {
  std::string value;  ///< what is stored: code, as ObjectCode::code() has it
  /// What is no part of it: of code its PTX and its names, and what the compiler printed; empty where there is none.
  std::string notes = {};
};

/// A cache: bytes under keys, both of any length. Derive from it to keep them elsewhere; the functions that are pure
/// here are all that is needed, and must bear calls from several threads.
///
/// There is no question whether a key is there: the answer could be wrong by the time the value is asked for.
class CUPRUM_API ProgramCacheResource {
 public:
  /// For derived classes: a cache is used by its address, so it is neither copied nor moved.
  ProgramCacheResource() = default;
  ProgramCacheResource(const ProgramCacheResource&) = delete;
  ProgramCacheResource& operator=(const ProgramCacheResource&) = delete;
  virtual ~ProgramCacheResource();

  /// What was stored under the key last; none when there is nothing.
  virtual std::optional<std::string> get(std::string_view key) = 0;

  /// Stores, in place of what was there. The value may be gone any time later. Throws when it can't;
  /// Program::compile tells the log hook then, once, and goes on.
  virtual void set(std::string_view key, std::string_view value) = 0;

  /// Whether there was something to remove.
  virtual bool erase(std::string_view key) = 0;

  /// How many values there are.
  virtual std::size_t size() = 0;

  /// Removes all values.
  virtual void clear() = 0;

  /// Gives back what the cache holds open. Those of the library hold nothing open and stay usable.
  virtual void close();

  /// What was stored under the key last, by set_entry() or by set(), with its notes; none when there is nothing. These
  /// two are what Program::compile calls.
  ///
  /// The caches of the library keep a value and its notes as one. Those that derive from this class and have only the
  /// functions above keep notes as a value of their own, under another key, and may lose one of the two; so may whoever
  /// reads between the two of them see notes of another value. Notes should tell which value is theirs.
  virtual std::optional<ProgramCacheEntry> get_entry(std::string_view key);
  /// Stores a value with its notes, in place of what was there. Throws as set() does.
  virtual void set_entry(std::string_view key, const ProgramCacheEntry& entry);

  /// set() for each.
  void update(const std::unordered_map<std::string, std::string>& values);

  /// Object code in the form that Program::compile stores: the value is the code itself, as ObjectCode::code() has it,
  /// and its PTX and names are in the notes. What one of them put under a key of make_program_cache_key(), the other
  /// finds. None when there is nothing, or something that is no code. Of linked code the machine code alone is kept.
  std::optional<ObjectCode> get_code(std::string_view key);
  /// The other direction. Throws as set() does.
  void set_code(std::string_view key, const ObjectCode& code);
};

/// How much a cache may keep.
struct ProgramCacheOptions {
  /// When values take more than this, those that were used longest ago go; a value larger than this isn't stored. No
  /// limit when not given. Throws InvalidArgument when it is 0.
  std::optional<std::size_t> max_size_bytes = {};
};

/// Keeps values for as long as it lives. Threads may share it.
class CUPRUM_API InMemoryProgramCache : public ProgramCacheResource {
 public:
  /// Empty. Throws InvalidArgument for a limit of 0.
  explicit InMemoryProgramCache(ProgramCacheOptions options = {});
  ~InMemoryProgramCache() override;

  std::optional<std::string> get(std::string_view key) override;
  void set(std::string_view key, std::string_view value) override;
  bool erase(std::string_view key) override;
  std::size_t size() override;
  void clear() override;
  std::optional<ProgramCacheEntry> get_entry(std::string_view key) override;
  void set_entry(std::string_view key, const ProgramCacheEntry& entry) override;

 private:
  struct Values;
  std::unique_ptr<Values> values_;
};

/// Keeps values as files in a folder, one each, that any number of threads and processes may share. Files appear whole
/// or not at all, whatever happens to the process that writes them. Each has a checksum: one that is damaged, truncated
/// or of another format is removed and counts as absent. Files and folder are made for their owner alone, and files of
/// other users are not read.
class CUPRUM_API FileStreamProgramCache : public ProgramCacheResource {
 public:
  /// Without a path, the user's cache folder: what CUPRUM_CACHE_DIR names, or $XDG_CACHE_HOME/cuprum, or
  /// ~/.cache/cuprum. The folder is made when the first value is stored. Throws InvalidArgument when none is left.
  explicit FileStreamProgramCache(std::string path = {}, ProgramCacheOptions options = {});
  ~FileStreamProgramCache() override;

  /// Throws SystemError when there is a file that can't be read; the same goes for what lists the files.
  std::optional<std::string> get(std::string_view key) override;
  /// Throws Error that says what the system said about which file: no space left, no permission.
  void set(std::string_view key, std::string_view value) override;
  bool erase(std::string_view key) override;
  std::size_t size() override;
  void clear() override;
  std::optional<ProgramCacheEntry> get_entry(std::string_view key) override;
  void set_entry(std::string_view key, const ProgramCacheEntry& entry) override;

  /// The folder, which need not be there yet.
  const std::string& path() const;
  /// As the options said; none for no limit.
  std::optional<std::size_t> max_size_bytes() const;
  /// What the files take, in bytes.
  std::size_t size_bytes() const;

 private:
  struct Folder;
  std::unique_ptr<Folder> folder_;
};

/// What goes into a key besides the program and its options.
struct ProgramCacheKeyOptions {
  std::vector<std::string> name_expressions = {};  ///< in any order
  /// Stands for what the library can't see: when it is given, a program whose included files can't all be told (a
  /// computed `#include`) has a key, too.
  std::string extra_digest = {};
};

/// A key that is the same as long as the compilation gives the same: made of the source, the files that it includes,
/// the options, the architecture, the target, and the compiler with its own headers. Program::compile uses it.
///
/// Throws InvalidArgument for what can't be cached: options whose point is what the compiler does besides (`time`,
/// `fdevice_time_trace`, precompiled headers), a computed `#include`, `#include_next`, `__DATE__` and `__TIME__`; and
/// for what can't be compiled.
CUPRUM_API std::string make_program_cache_key(std::string_view source, SourceCodeType type,
                                              const ProgramOptions& options, Target target,
                                              const ProgramCacheKeyOptions& key_options = {});

}  // namespace cuprum::inline CUPRUM_ABI
