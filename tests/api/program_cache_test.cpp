// What every cache of programs does: in memory, in files, and one that a user writes.
#include <atomic>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>

#include "api/fixture.hpp"
#include "support/temporary_folder.hpp"

namespace cuprum::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

/// The least that a user has to write.
class UsersCache : public ProgramCacheResource {
 public:
  std::optional<std::string> get(std::string_view key) override {
    std::lock_guard lock(mutex_);
    const auto found = values_.find(std::string(key));
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  void set(std::string_view key, std::string_view value) override {
    std::lock_guard lock(mutex_);
    values_[std::string(key)] = value;
  }
  bool erase(std::string_view key) override {
    std::lock_guard lock(mutex_);
    return values_.erase(std::string(key)) != 0;
  }
  std::size_t size() override {
    std::lock_guard lock(mutex_);
    return values_.size();
  }
  void clear() override {
    std::lock_guard lock(mutex_);
    values_.clear();
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> values_;
};

struct Kind {
  const char* name;
  std::unique_ptr<ProgramCacheResource> (*make)(const TemporaryFolder& folder, ProgramCacheOptions options);
};
void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }

const Kind kinds[] = {
    {"memory",
     [](const TemporaryFolder&, ProgramCacheOptions options) -> std::unique_ptr<ProgramCacheResource> {
       return std::make_unique<InMemoryProgramCache>(options);
     }},
    {"files",
     [](const TemporaryFolder& folder, ProgramCacheOptions options) -> std::unique_ptr<ProgramCacheResource> {
       return std::make_unique<FileStreamProgramCache>(folder / "cache", options);
     }},
    {"users",
     [](const TemporaryFolder&, ProgramCacheOptions) -> std::unique_ptr<ProgramCacheResource> {
       return std::make_unique<UsersCache>();
     }},
};
const std::span<const Kind> kinds_with_limit(kinds, 2);

class ProgramCacheTest : public ApiTest, public ::testing::WithParamInterface<Kind> {
 protected:
  std::unique_ptr<ProgramCacheResource> make(ProgramCacheOptions options = {}) {
    return GetParam().make(folder, options);
  }

  TemporaryFolder folder;
};

class LimitedProgramCacheTest : public ProgramCacheTest {};

TEST_P(ProgramCacheTest, GivesBackWhatWasStoredLast) {
  const auto cache = make();
  EXPECT_EQ(cache->get("key"), std::nullopt);
  cache->set("key", "first");
  cache->set("key", "second");
  EXPECT_THAT(cache->get("key"), Optional(std::string("second")));
  EXPECT_EQ(cache->size(), 1u);
}

TEST_P(ProgramCacheTest, TakesAnyBytes) {
  const auto cache = make();
  const std::string key = std::string("\0/../\n", 6) + std::string(5000, 'k');
  const std::string value("\0\xff\n", 3);
  cache->update({{key, value}, {"", "without a key"}, {"empty", ""}});
  EXPECT_THAT(cache->get(key), Optional(value));
  EXPECT_THAT(cache->get(""), Optional(std::string("without a key")));
  EXPECT_THAT(cache->get("empty"), Optional(std::string()));
  EXPECT_EQ(cache->size(), 3u);
}

TEST_P(ProgramCacheTest, Forgets) {
  const auto cache = make();
  cache->update({{"a", "1"}, {"b", "2"}, {"c", "3"}});
  EXPECT_TRUE(cache->erase("a"));
  EXPECT_FALSE(cache->erase("a"));
  EXPECT_EQ(cache->get("a"), std::nullopt);
  EXPECT_EQ(cache->size(), 2u);
  cache->clear();
  EXPECT_EQ(cache->size(), 0u);
  EXPECT_EQ(cache->get("b"), std::nullopt);
  cache->set("b", "again");
  EXPECT_THAT(cache->get("b"), Optional(std::string("again")));
  cache->close();
}

TEST_P(ProgramCacheTest, KeepsNotesWithTheirValue) {
  const auto cache = make();
  EXPECT_FALSE(cache->get_entry("key"));
  cache->set_entry("key", {"value", "its notes"});
  ASSERT_TRUE(cache->get_entry("key"));
  EXPECT_EQ(cache->get_entry("key")->value, "value");
  EXPECT_EQ(cache->get_entry("key")->notes, "its notes");
  EXPECT_THAT(cache->get("key"), Optional(std::string("value")));
  cache->set_entry("key", {"another"});
  EXPECT_EQ(cache->get_entry("key")->value, "another");
  EXPECT_EQ(cache->get_entry("key")->notes, "");
}

// Caches of the library alone: a user's, which has only values, can't.
TEST_P(LimitedProgramCacheTest, NobodySeesAValueWithoutItsNotes) {
  const auto cache = make({.max_size_bytes = std::size_t{1} << 20});
  const auto write = [&](char letter) {
    for (int i = 0; i < 300; ++i) {
      cache->set_entry("key", {std::string(1000, letter), std::string(500, letter)});
      if (i % 10 == 0) cache->erase("key");
    }
  };
  std::atomic<int> writing = 2;
  std::vector<std::thread> writers;
  for (const char letter : {'a', 'b'})
    writers.emplace_back([&, letter] {
      write(letter);
      --writing;
    });
  while (writing != 0) {
    const std::optional<ProgramCacheEntry> entry = cache->get_entry("key");
    if (entry) {
      EXPECT_EQ(entry->notes, std::string(500, entry->value.front()));
    }
  }
  for (std::thread& writer : writers) writer.join();
}

TEST_P(LimitedProgramCacheTest, KeepsWhatWasUsedLastWhenItIsFull) {
  const auto cache = make({.max_size_bytes = 4096});
  const std::string kilobyte(1000, 'x');
  // File systems tell times apart that are some milliseconds apart.
  const auto later = [] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); };
  for (const char* key : {"a", "b", "c"}) {
    cache->set(key, kilobyte);
    later();
  }
  EXPECT_TRUE(cache->get("a"));
  later();
  cache->set("d", kilobyte + kilobyte);
  EXPECT_FALSE(cache->get("b"));
  EXPECT_TRUE(cache->get("a"));
  EXPECT_TRUE(cache->get("d"));
}

TEST_P(LimitedProgramCacheTest, DoesNotKeepAValueOverTheLimit) {
  const auto cache = make({.max_size_bytes = 1000});
  cache->set("small", "1");
  cache->set("large", "1");
  cache->set("large", std::string(2000, 'x'));
  EXPECT_FALSE(cache->get("large"));
  EXPECT_TRUE(cache->get("small"));
}

TEST_P(LimitedProgramCacheTest, RefusesALimitOfNothing) {
  EXPECT_THAT(error_of<InvalidArgument>([&] { make({.max_size_bytes = 0}); }),
              HasSubstr("max_size_bytes of a program cache is 0"));
}

TEST_P(ProgramCacheTest, BearsSeveralThreads) {
  const auto cache = make({.max_size_bytes = 10'000});
  std::vector<std::thread> threads;
  std::atomic<int> found = 0;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 100; ++round) {
        const std::string key = std::to_string((thread + round) % 7);
        cache->set(key, std::string(500, key.front()));
        const std::optional<std::string> value = cache->get(key);  // unless another thread has removed it
        if (value) {
          EXPECT_EQ(*value, std::string(500, key.front()));
        }
        found += value.has_value();
        if (round % 10 == 0) cache->erase(key);
        if (round % 50 == 0) cache->clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(found, 0);
  EXPECT_LE(cache->size(), 7u);
}

TEST_P(ProgramCacheTest, KeepsObjectCodeWithItsNames) {
  const auto cache = make();
  const ObjectCode code = ObjectCode::from_ptx(".version 8.0  // the rest is not looked at",
                                               {.name = "mine", .symbol_mapping = {{"a<int>", "_Z1a"}}});
  cache->set_code("key", code);
  const std::optional<ObjectCode> found = cache->get_code("key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->code(), code.code());
  EXPECT_EQ(found->code_type(), Target::ptx);
  EXPECT_EQ(found->name(), "mine");
  EXPECT_EQ(found->symbol_mapping(), code.symbol_mapping());
  EXPECT_FALSE(cache->get_code("other"));
  cache->set("key", "something else");
  EXPECT_FALSE(cache->get_code("key"));
}

TEST_P(ProgramCacheTest, SavesACompilation) {
  const auto cache = make();
  const Program program("template <typename T> __global__ void add(T* p) { int unused; *p += T(3); }");
  const auto compile = [&](std::ostream& log) {
    return program.compile(Target::cubin, {.name_expressions = {"add<int>"}, .log = &log, .cache = cache.get()});
  };
  // Where a user's cache knows nothing of notes, they are a value of their own.
  const std::size_t values = GetParam().name == std::string("users") ? 2 : 1;
  std::ostringstream first_log, second_log;
  const ObjectCode first = compile(first_log);
  EXPECT_EQ(cache->size(), values);
  const ObjectCode second = compile(second_log);
  EXPECT_EQ(cache->size(), values);
  EXPECT_NE(first, second);
  EXPECT_EQ(second.code(), first.code());
  EXPECT_EQ(second.symbol_mapping(), first.symbol_mapping());
  EXPECT_THAT(first_log.str(), HasSubstr("unused"));
  EXPECT_EQ(second_log.str(), first_log.str());

  const Stream stream = device.create_stream();
  const Buffer data = upload(std::vector<int>{39}, stream);
  launch(stream, {.grid = 1, .block = 1}, second.get_kernel("add<int>"), data);
  EXPECT_EQ(download<int>(data, stream).front(), 42);
}

std::string name_of(const ::testing::TestParamInfo<Kind>& parameter) { return parameter.param.name; }

INSTANTIATE_TEST_SUITE_P(Each, ProgramCacheTest, ::testing::ValuesIn(kinds), name_of);
INSTANTIATE_TEST_SUITE_P(Each, LimitedProgramCacheTest, ::testing::ValuesIn(kinds_with_limit), name_of);

}  // namespace
}  // namespace cuprum::tests
