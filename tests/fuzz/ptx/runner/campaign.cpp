#include "fuzz/ptx/runner/campaign.hpp"

#include <signal.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "fuzz/ptx/runner/reduce.hpp"

namespace ptx_fuzz {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

// Kernels that come out alike at several widths are compiled once.
class CacheFolder {
 public:
  CacheFolder() : path_((fs::temp_directory_path() / "ptx_fuzz.XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("can't make the folder " + path_);
  }
  ~CacheFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  CacheFolder(const CacheFolder&) = delete;
  CacheFolder& operator=(const CacheFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

class Campaign {
 public:
  explicit Campaign(const Options& options) : options_(options), begin_(Clock::now()) {}

  // Returns how many programs failed.
  unsigned run() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < options_.jobs; ++i) threads.emplace_back([this] { run_some(); });
    for (std::thread& thread : threads) thread.join();
    const double seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
    std::printf("%u programs from seed %llu on in %zu ways, %u failures, %.1f s, %.1f programs per second\n",
                done_.load(), static_cast<unsigned long long>(options_.first_seed), options_.widths.size(),
                failed_.load(), seconds, done_.load() / seconds);
    return failed_;
  }

 private:
  void run_some() {
    const CacheFolder cache;
    std::vector<Worker> workers;
    for (const std::string& width : options_.widths)
      workers.emplace_back(width, options_.widths.size() > 1 ? cache.path() : "", options_.optimisation);
    for (;;) {
      const std::uint64_t turn = next_++;
      const bool is_kept = turn < options_.kept.size();
      const std::uint64_t seed = is_kept ? options_.kept[turn] : options_.first_seed + (turn - options_.kept.size());
      if ((!is_kept && seed >= options_.last_seed) || Clock::now() - begin_ > std::chrono::seconds(options_.seconds))
        return;
      try {
        run_seed(workers, seed);
      } catch (const std::exception& error) {
        ++failed_;
        std::printf("%s\n", error.what());
      }
      if (const unsigned done = ++done_; options_.fresh && done % 1000 == 0) {
        std::printf("%u programs from seed %llu on, %u failures\n", done,
                    static_cast<unsigned long long>(options_.first_seed), failed_.load());
        std::fflush(stdout);
      }
    }
  }

  void run_seed(std::vector<Worker>& workers, std::uint64_t seed) {
    Trial trial = defined_trial(seed, options_.features);
    const Program whole = trial.program;
    if (!options_.without.empty()) trial = make_trial(without(whole, options_.without));
    if (!trial.expected.undefined.empty()) {
      std::printf("seed %llu has no single result: %s\n", static_cast<unsigned long long>(seed),
                  trial.expected.undefined.c_str());
      return;
    }
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const Verdict verdict = workers[i].run(trial, std::chrono::seconds(options_.limit_seconds));
      if (is_failure(verdict.kind)) report(workers[i], options_.widths[i], whole, verdict);
    }
  }

  std::string command(std::uint64_t seed, const std::string& width, const std::set<unsigned>& out) const {
    std::string text = "ptx_fuzz --seeds " + std::to_string(seed);
    if (!width.empty()) text += " --width " + width;
    if (options_.optimisation != kFullOptimisation) text += " --optimisation " + std::to_string(options_.optimisation);
    if (!options_.feature_list.empty()) text += " --features " + options_.feature_list;
    if (!out.empty()) text += " --without " + write_numbers(out);
    return text;
  }

  void report(Worker& worker, const std::string& width, const Program& whole, const Verdict& verdict) {
    const std::lock_guard lock(mutex_);
    const bool in_full = failed_++ < options_.most_reduced;
    std::printf("seed %llu %s: %s\n%s", static_cast<unsigned long long>(whole.seed), name_of(verdict.kind),
                command(whole.seed, width, options_.without).c_str(), verdict.text.c_str());
    if (verdict.text.empty() || verdict.text.back() != '\n') std::printf("\n");
    std::fflush(stdout);
    if (!in_full) return;
    const auto limit = std::chrono::seconds(verdict.kind == Verdict::Kind::hangs ? 3 : options_.limit_seconds);
    const std::set<unsigned> out = reduce(worker, whole, options_.without, verdict.kind, limit);
    const Trial reduced = make_trial(without(whole, out));
    std::printf("reduced, %s:\n%s%s\n", command(whole.seed, width, out).c_str(),
                worker.run(reduced, limit).text.c_str(), reduced.launch.ptx.c_str());
    std::fflush(stdout);
  }

  const Options& options_;
  std::atomic<std::uint64_t> next_ = 0;  // program: the kept ones, then those of the seeds
  std::atomic<unsigned> done_ = 0, failed_ = 0;
  const Clock::time_point begin_;
  std::mutex mutex_;
};

}  // namespace

int run_campaign(const Options& options) {
  signal(SIGPIPE, SIG_IGN);  // of a driver's process that has crashed
  return Campaign(options).run() == 0 ? 0 : 1;
}

}  // namespace ptx_fuzz
