#include "fuzz/ptx/runner/campaign.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include "fuzz/ptx/model/writer.hpp"
#include "fuzz/ptx/runner/reduce.hpp"

namespace ptx_fuzz {
namespace {

using Clock = std::chrono::steady_clock;

class Campaign {
 public:
  Campaign(const Options& options, std::string width)
      : options_(options), width_(std::move(width)), begin_(Clock::now()) {}

  // Returns how many programs failed.
  unsigned run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < options_.jobs; ++i) threads.emplace_back([this] { run_some(); });
    for (std::thread& thread : threads) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    std::printf("%s%s: %u programs from seed %llu on, %u failed, %.1f s, %.1f programs per second\n",
                width_.empty() ? "" : "width ", width_.empty() ? "ptx_fuzz" : width_.c_str(), done_.load(),
                static_cast<unsigned long long>(options_.first_seed), failed_.load(), seconds, done_.load() / seconds);
    return failed_;
  }

 private:
  void run_some() {
    Worker worker(width_, options_.feature_list);
    for (;;) {
      const std::uint64_t turn = next_++;
      const bool is_kept = turn < options_.kept.size();
      const std::uint64_t seed = is_kept ? options_.kept[turn] : options_.first_seed + (turn - options_.kept.size());
      if ((!is_kept && seed >= options_.last_seed) || Clock::now() - begin_ > std::chrono::seconds(options_.seconds))
        return;
      const Choice choice{seed, options_.without};
      const Verdict verdict = worker.run(choice, std::chrono::seconds(options_.limit_seconds));
      ++done_;
      if (verdict.kind == Verdict::Kind::undefined)
        std::printf("seed %llu has no single result: %s\n", static_cast<unsigned long long>(seed),
                    verdict.text.c_str());
      if (is_failure(verdict.kind)) report(worker, choice, verdict);
    }
  }

  std::string command(const Choice& choice) const {
    std::string text = "ptx_fuzz --seeds " + std::to_string(choice.seed);
    if (!width_.empty()) text += " --width " + width_;
    if (!options_.feature_list.empty()) text += " --features " + options_.feature_list;
    if (!choice.without.empty()) text += " --without " + write_numbers(choice.without);
    return text;
  }

  void report(Worker& worker, Choice choice, const Verdict& verdict) {
    const std::lock_guard lock(mutex_);
    const bool in_full = failed_++ < options_.most_reduced;
    std::printf("seed %llu %s: %s\n%s", static_cast<unsigned long long>(choice.seed), name_of(verdict.kind),
                command(choice).c_str(), verdict.text.c_str());
    if (verdict.text.empty() || verdict.text.back() != '\n') std::printf("\n");
    std::fflush(stdout);
    if (!in_full) return;
    const auto limit = std::chrono::seconds(verdict.kind == Verdict::Kind::hangs ? 3 : options_.limit_seconds);
    const Program whole = defined_program(choice.seed, options_.features);
    choice = reduce(worker, choice, count_statements(whole), verdict.kind, limit);
    std::printf("reduced, %s:\n%s%s\n", command(choice).c_str(), worker.run(choice, limit).text.c_str(),
                write_ptx(without(whole, choice.without)).c_str());
    std::fflush(stdout);
  }

  const Options& options_;
  const std::string width_;
  std::atomic<std::uint64_t> next_ = 0;  // program: the kept ones, then those of the seeds
  std::atomic<unsigned> done_ = 0, failed_ = 0;
  const Clock::time_point begin_;
  std::mutex mutex_;
};

}  // namespace

int run_campaign(const Options& options) {
  unsigned failed = 0;
  for (const std::string& width : options.widths) failed += Campaign(options, width).run();
  return failed == 0 ? 0 : 1;
}

}  // namespace ptx_fuzz
