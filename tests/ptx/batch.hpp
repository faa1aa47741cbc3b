// One kernel made of many statements, each run over all combinations of the same inputs and compared with a function of
// the host:
//
//   Batch<int, int, int> batch(edge_values<int>(), edge_values<int>());
//   batch.add("sub.s32 d, a, b;", [](int a, int b) { return a - b; });
//   batch.run();
//
// In a statement, `d` is the result, `a`, `b`, `c` and `e` are the sources: untyped registers of their size (.b16 for 8
// bits). It may use the registers p, q (.pred), h, h2 (.b16), r, r2 (.b32), l, l2 (.b64), x, x2 (.f32) and y, y2
// (.f64).
#pragma once

#include <cstring>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/driver.hpp"
#include "ptx/values.hpp"

namespace ptx_test {

inline constexpr const char* kHeader = ".version 8.3\n.target sm_90\n.address_size 64\n";

// How far a result may be from the reference: as a part of it, or absolutely. By default not at all.
struct Tolerance {
  double relative = -1, absolute = -1;
};
inline constexpr Tolerance kSignOfZeroAside = {0, 0};

// The kernel's text: `sizes` are those of the result and of the sources, in bytes.
std::string batch_kernel(const std::vector<std::size_t>& sizes, const std::vector<std::string>& statements);

// Runs the kernel over `count` elements of each input and returns what it wrote.
std::vector<std::byte> run_batch(const std::string& text, std::size_t count,
                                 const std::vector<std::pair<const void*, std::size_t>>& inputs,
                                 std::size_t output_bytes);

std::string hex(std::uint64_t bits, std::size_t bytes);

template <typename D, typename... Sources>
class Batch {
 public:
  using Reference = std::function<D(Sources...)>;

  explicit Batch(const std::vector<Sources>&... values) { combine<0>(std::tie(values...), {}); }

  void add(std::string statement, Reference reference, Tolerance tolerance = {}) {
    cases_.push_back({std::move(statement), std::move(reference), tolerance});
  }

  void run() {
    std::vector<std::string> statements;
    for (const Case& entry : cases_) statements.push_back(entry.statement);
    const std::string text = batch_kernel({sizeof(D), sizeof(Sources)...}, statements);
    const std::size_t count = std::get<0>(inputs_).size();
    const std::vector<std::byte> output = std::apply(
        [&](const auto&... input) {
          return run_batch(text, count, {{input.data(), input.size() * sizeof(input[0])}...},
                           cases_.size() * count * sizeof(D));
        },
        inputs_);
    ASSERT_EQ(output.size(), cases_.size() * count * sizeof(D)) << "the kernel did not run:\n" << text;
    for (std::size_t i = 0; i < cases_.size(); ++i) compare(cases_[i], output.data() + i * count * sizeof(D));
  }

 private:
  struct Case {
    std::string statement;
    Reference reference;
    Tolerance tolerance;
  };

  // Appends every combination of values to the inputs.
  template <std::size_t I>
  void combine(const std::tuple<const std::vector<Sources>&...>& values, std::tuple<Sources...> chosen) {
    if constexpr (I == sizeof...(Sources)) {
      append(chosen, std::index_sequence_for<Sources...>());
    } else {
      for (const auto& value : std::get<I>(values)) {
        std::get<I>(chosen) = value;
        combine<I + 1>(values, chosen);
      }
    }
  }
  template <std::size_t... I>
  void append(const std::tuple<Sources...>& chosen, std::index_sequence<I...>) {
    (std::get<I>(inputs_).push_back(std::get<I>(chosen)), ...);
  }

  void compare(const Case& entry, const std::byte* output) const {
    constexpr int kMostShown = 4;
    int wrong = 0;
    const std::size_t count = std::get<0>(inputs_).size();
    for (std::size_t i = 0; i < count; ++i) {
      D got;
      std::memcpy(&got, output + i * sizeof(D), sizeof(D));
      const D expected = std::apply([&](const auto&... input) { return entry.reference(input[i]...); }, inputs_);
      if (close(got, expected, entry.tolerance)) continue;
      if (++wrong <= kMostShown)
        ADD_FAILURE() << entry.statement << "\n  of " << sources(i) << " gave " << hex(bits_of(got), sizeof(D))
                      << ", not " << hex(bits_of(expected), sizeof(D));
    }
    if (wrong > kMostShown)
      ADD_FAILURE() << entry.statement << " was wrong for " << wrong << " of " << count << " inputs";
  }

  static bool close(D got, D expected, Tolerance tolerance) {
    if (same(got, expected)) return true;
    if constexpr (std::is_floating_point_v<D>) {
      const double difference = std::abs(static_cast<double>(got) - static_cast<double>(expected));
      return difference <= tolerance.absolute ||
             difference <= tolerance.relative * std::abs(static_cast<double>(expected));
    } else {
      return false;
    }
  }

  std::string sources(std::size_t i) const {
    std::string text;
    std::apply(
        [&](const auto&... input) {
          ((text += (text.empty() ? "" : ", ") + hex(bits_of(input[i]), sizeof(input[i]))), ...);
        },
        inputs_);
    return text;
  }

  std::tuple<std::vector<Sources>...> inputs_;
  std::vector<Case> cases_;
};

class PtxTest : public conformance::DriverTest {};

}  // namespace ptx_test
