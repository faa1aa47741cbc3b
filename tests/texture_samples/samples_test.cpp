// Every kind of sampling gives the bits that an H200 gave (h200.txt), apart from those whose arithmetic is not known to
// the last bit: of their samples (h200_values.txt) no more differ than bounds.txt says. record.cpp wrote the data.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "texture_samples/kinds.hpp"

namespace texture_samples {
namespace {

const std::string kFolder = TEXTURE_SAMPLES_FOLDER;

std::vector<std::uint32_t> numbers(std::istream& words, std::size_t count) {
  std::vector<std::uint32_t> all(count);
  for (std::uint32_t& number : all) words >> std::hex >> number;
  return all;
}

std::string rest_of(std::istream& line) {
  std::string text;
  std::getline(line >> std::ws, text);
  return text;
}

using Numbers = std::map<std::string, std::vector<std::uint32_t>>;  // by the kind's name

Numbers recorded_hashes() {
  Numbers all;
  std::ifstream file(kFolder + "/h200.txt");
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    const auto hashes = numbers(line, kSamples / kChunk);
    all[rest_of(line)] = hashes;
  }
  return all;
}

Numbers recorded_values() {
  Numbers all;
  std::ifstream file(kFolder + "/h200_values.txt");
  for (std::string name, text; std::getline(file, name) && std::getline(file, text);) {
    std::istringstream line(text);
    all[name] = numbers(line, kSamples / kValueStep);
  }
  return all;
}

// How many of the recorded samples may differ.
std::map<std::string, std::size_t> bounds() {
  std::map<std::string, std::size_t> all;
  std::ifstream file(kFolder + "/bounds.txt");
  for (std::string text; std::getline(file, text);) {
    std::istringstream line(text);
    std::size_t count = 0;
    line >> count;
    all[rest_of(line)] = count;
  }
  return all;
}

std::vector<std::string> groups() {
  std::set<std::string> all;
  for (const Kind& kind : kinds()) all.insert(group_of(kind));
  return {all.begin(), all.end()};
}

class TextureSamples : public testing::TestWithParam<std::string> {};

TEST_P(TextureSamples, AreThoseOfAnH200) {
  const Numbers expected = recorded_hashes();
  const auto inexact = bounds();
  constexpr std::size_t kChunks = kSamples / kChunk, kStep = TEXTURE_SAMPLES_FEW ? kChunks : 1;
  std::size_t number = 0;
  for (const Kind& kind : kinds()) {
    if (group_of(kind) != GetParam() || inexact.contains(kind.name)) continue;
    ASSERT_TRUE(expected.contains(kind.name)) << "h200.txt lacks '" << kind.name << "': record it on a GPU";
    std::string different;
    for (std::size_t chunk = number++ % kStep; chunk < kChunks; chunk += kStep)
      if (hash_of(run(case_of(kind, chunk * kChunk, kChunk)).outputs) != expected.at(kind.name)[chunk])
        different += " " + std::to_string(chunk);
    EXPECT_EQ(different, "") << kind.name << ": these chunks of " << kChunk << " samples differ";
  }
}

TEST_P(TextureSamples, OfOtherKindsAreMostlyThoseOfAnH200) {
  const Numbers expected = recorded_values();
  const auto inexact = bounds();
  for (const Kind& kind : kinds()) {
    if (group_of(kind) != GetParam() || !inexact.contains(kind.name)) continue;
    ASSERT_TRUE(expected.contains(kind.name)) << "h200_values.txt lacks '" << kind.name << "': record it on a GPU";
    const std::vector<std::uint32_t>& values = expected.at(kind.name);
    const std::vector<Output> found = run(case_of(kind, 0, values.size(), kValueStep)).outputs;
    std::size_t different = 0;
    for (std::size_t i = 0; i < values.size(); ++i) different += found[i][0] != values[i] ? 1 : 0;
    EXPECT_LE(different, inexact.at(kind.name)) << kind.name;
  }
}

std::string as_identifier(std::string name) {
  for (char& letter : name)
    if (letter == '-') letter = '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Of, TextureSamples, testing::ValuesIn(groups()),
                         [](const auto& group) { return as_identifier(group.param); });

}  // namespace
}  // namespace texture_samples
