#include "softgpu/runtime/code/jit_options.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <limits>

namespace softgpu::runtime {
namespace {

constexpr unsigned kLoad = static_cast<unsigned>(JitOptions::Use::load);
constexpr unsigned kLink = static_cast<unsigned>(JitOptions::Use::link);
constexpr unsigned kInput = static_cast<unsigned>(JitOptions::Use::link_input);
constexpr unsigned kAnywhere = kLoad | kLink | kInput;
constexpr unsigned kAny = std::numeric_limits<unsigned>::max();

// The largest value and the places where the option is allowed.
struct Rule {
  CUjit_option option;
  unsigned most = kAny;
  unsigned uses = kAnywhere;
};

// Options that are not here take any value, anywhere.
constexpr Rule kRules[] = {
    {CU_JIT_WALL_TIME, kAny, kLoad | kLink},
    {CU_JIT_INFO_LOG_BUFFER, kAny, kLoad | kLink},
    {CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, kAny, kLoad | kLink},
    {CU_JIT_ERROR_LOG_BUFFER, kAny, kLoad | kLink},
    {CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, kAny, kLoad | kLink},
    {CU_JIT_OPTIMIZATION_LEVEL, 4},
    {CU_JIT_TARGET_FROM_CUCONTEXT, kAny, kLoad | kLink},
    {CU_JIT_TARGET, kAny, kLoad | kLink},
    {CU_JIT_FALLBACK_STRATEGY, CU_PREFER_BINARY, kLoad | kInput},
    {CU_JIT_CACHE_MODE, CU_JIT_CACHE_OPTION_CA},
    {CU_JIT_GLOBAL_SYMBOL_NAMES, kAny, kLoad},
    {CU_JIT_GLOBAL_SYMBOL_ADDRESSES, kAny, kLoad},
    {CU_JIT_GLOBAL_SYMBOL_COUNT, kAny, kLoad},
};

// Options of type unsigned or int are cast to a pointer.
unsigned number(const void* value) { return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(value)); }

// 0 is none.
std::optional<unsigned> limit(const void* value) {
  return number(value) != 0 ? std::optional(number(value)) : std::nullopt;
}

bool is_target(unsigned target) {
  const unsigned plain = target % CU_COMPUTE_ACCELERATED_TARGET_BASE;
  return target / CU_COMPUTE_ACCELERATED_TARGET_BASE <= 2 && plain >= CU_TARGET_COMPUTE_30 &&
         plain <= CU_TARGET_COMPUTE_121;
}
static_assert(CU_COMPUTE_FAMILY_TARGET_BASE == 2 * CU_COMPUTE_ACCELERATED_TARGET_BASE);

void check(CUjit_option option, const void* value, unsigned use) {
  require(option >= 0 && option < CU_JIT_NUM_OPTIONS, CUDA_ERROR_INVALID_VALUE, "no such JIT option");
  for (const Rule& rule : kRules) {
    if (rule.option != option) continue;
    require((rule.uses & use) != 0, CUDA_ERROR_INVALID_VALUE, "a JIT option that can't be given here");
    require(rule.most == kAny || number(value) <= rule.most, CUDA_ERROR_INVALID_VALUE,
            "a JIT option with a value that it does not have");
  }
  require(option != CU_JIT_TARGET || is_target(number(value)), CUDA_ERROR_INVALID_VALUE, "no such target");
  require(option != CU_JIT_GLOBAL_SYMBOL_COUNT || number(value) == 0, CUDA_ERROR_NOT_SUPPORTED,
          "softgpu does not bind device variables to host addresses (CU_JIT_GLOBAL_SYMBOL_NAMES)");
  require(option != CU_JIT_LTO || number(value) == 0, CUDA_ERROR_NOT_SUPPORTED,
          "softgpu does not link LTO-IR: let nvJitLink make PTX of it (-lto -ptx)");
}

}  // namespace

void KernelLimits::apply(ptx::Module& module) const {
  for (ptx::Function& kernel : module.functions) {
    if (!kernel.is_kernel) continue;
    if (registers && (override_directives || kernel.max_registers == 0)) kernel.max_registers = *registers;
    if (!threads || (!override_directives && kernel.max_threads[0] != 0)) continue;
    kernel.max_threads[0] = *threads;
    kernel.max_threads[1] = kernel.max_threads[2] = 1;
  }
}

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values, Use use) {
  require(count == 0 || (options != nullptr && values != nullptr), CUDA_ERROR_INVALID_VALUE, "options without values");
  bool has_target = false, has_threads = false;
  for (unsigned i = 0; i < count; ++i) {
    check(options[i], values[i], static_cast<unsigned>(use));
    has_target |= options[i] == CU_JIT_TARGET;
    has_threads |= options[i] == CU_JIT_THREADS_PER_BLOCK;
    take(options[i], &values[i]);
  }
  require(!has_target || !has_threads, CUDA_ERROR_INVALID_VALUE,
          "CU_JIT_TARGET can't be combined with CU_JIT_THREADS_PER_BLOCK");
}

void JitOptions::take(CUjit_option option, void** value) {
  const auto set_size = [&](Log& log) {
    log.size = value;
    log.room = number(*value);
  };
  switch (option) {
    case CU_JIT_INFO_LOG_BUFFER: info_.buffer = static_cast<char*>(*value); break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: set_size(info_); break;
    case CU_JIT_ERROR_LOG_BUFFER: error_.buffer = static_cast<char*>(*value); break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: set_size(error_); break;
    case CU_JIT_LOG_VERBOSE: verbose_ = number(*value) != 0; break;
    case CU_JIT_WALL_TIME: time_ = value; break;
    case CU_JIT_MAX_REGISTERS: limits_.registers = limit(*value); break;
    case CU_JIT_MAX_THREADS_PER_BLOCK: limits_.threads = limit(*value); break;
    case CU_JIT_OVERRIDE_DIRECTIVE_VALUES: limits_.override_directives = number(*value) != 0; break;
    default: break;
  }
}

void JitOptions::write(Clock::time_point start) {
  error_.write();
  info_.write();
  spent_ += Clock::now() - start;
  if (time_ == nullptr) return;
  const float milliseconds = std::chrono::duration<float, std::milli>(spent_).count();
  std::memcpy(time_, &milliseconds, sizeof milliseconds);
}

void JitOptions::Log::add(std::string_view lines) {
  text += lines;
  if (!text.empty() && !text.ends_with('\n')) text += '\n';
}

// As much as fits with a null character behind it, and how many bytes that took.
void JitOptions::Log::write() const {
  if (size == nullptr) return;
  std::size_t written = 0;
  if (buffer != nullptr && room != 0) {
    const std::string_view fitting = std::string_view(text).substr(0, room - 1);
    *std::copy(fitting.begin(), fitting.end(), buffer) = '\0';
    written = fitting.empty() ? 0 : fitting.size() + 1;
  }
  *size = reinterpret_cast<void*>(static_cast<std::uintptr_t>(written));
}

}  // namespace softgpu::runtime
