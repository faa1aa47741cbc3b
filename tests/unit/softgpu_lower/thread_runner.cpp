#include "unit/softgpu_lower/thread_runner.hpp"

#include <gtest/gtest.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>

#include <map>
#include <memory>
#include <stdexcept>

#include "softgpu/abi/marks.hpp"
#include "softgpu/lower/lower.hpp"
#include "softgpu/ptx/parse.hpp"

namespace softgpu::test {
namespace {

template <typename... Values>
void note(const char* name, Values... values) {
  std::string event = name;
  ((event += ' ' + std::to_string(values)), ...);
  fake_thread().events.push_back(event);
}

// One answer for each mark, by its kind of result. Queries have fixed numbers: 100 + the mark's number.
template <int mark>
std::uint32_t query() {
  return 100 + mark;
}
void* params() { return fake_thread().params.data(); }
void* shared() { return fake_thread().shared; }
std::uint32_t total_smem_size() { return sizeof(FakeThread::shared); }
std::uint32_t laneid() { return 5; }
std::uint64_t clock64() { return 0x1234567890abcdef; }
void barrier_sync(std::uint32_t id, std::uint32_t threads) { note("barrier_sync", id, threads); }
void barrier_sync_unaligned(std::uint32_t id, std::uint32_t threads) { note("barrier_sync_unaligned", id, threads); }
void barrier_arrive(std::uint32_t id, std::uint32_t threads) { note("barrier_arrive", id, threads); }
void barrier_arrive_unaligned(std::uint32_t id, std::uint32_t threads) {
  note("barrier_arrive_unaligned", id, threads);
}
bool barrier_red_or_unaligned(std::uint32_t id, std::uint32_t threads, bool p) {
  return note("barrier_red_or_unaligned", id, threads, p), p;
}
bool barrier_red_and(std::uint32_t id, std::uint32_t threads, bool p) {
  return note("barrier_red_and", id, threads, p), p;
}
bool barrier_red_or(std::uint32_t id, std::uint32_t threads, bool p) {
  return note("barrier_red_or", id, threads, p), p;
}
std::uint32_t barrier_red_popc(std::uint32_t id, std::uint32_t threads, bool p) {
  return note("barrier_red_popc", id, threads, p), 7 * p;
}
template <int mark>
std::uint32_t shuffle(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t m) {
  note(abi::kMarks[mark].symbol.data(), a, b, c, m);
  return a + 1;
}
template <int mark>
bool shuffle_p(std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
  return true;
}
template <int mark>
bool vote(bool p, std::uint32_t m) {
  note(abi::kMarks[mark].symbol.data(), p, m);
  return p;
}
std::uint32_t ballot(bool p, std::uint32_t m) { return note("vote_ballot", p, m), p ? m : 0; }
std::uint32_t match_any_32(std::uint32_t a, std::uint32_t m) { return note("match_any_32", a, m), a ? m : 1; }
std::uint32_t match_any_64(std::uint64_t a, std::uint32_t m) { return note("match_any_64", a, m), a ? m : 1; }
std::uint32_t match_all_32(std::uint32_t a, std::uint32_t m) { return note("match_all_32", a, m), a ? m : 0; }
std::uint32_t match_all_64(std::uint64_t a, std::uint32_t m) { return note("match_all_64", a, m), a ? m : 0; }
std::uint32_t activemask() { return 0xff; }
void warp_sync(std::uint32_t m) { note("warp_sync", m); }
template <int mark>
std::uint32_t redux(std::uint32_t a, std::uint32_t m) {
  note(abi::kMarks[mark].symbol.data(), a, m);
  return a;
}
void nanosleep(std::uint32_t t) { note("nanosleep", t); }
void exit_thread() {
  note("exit");
  throw std::runtime_error("exit");
}
void trap() {
  note("trap");
  throw std::runtime_error("trap");
}
int vprintf_call(const char* format, const std::byte* arguments) {
  std::int32_t first = 0;
  std::memcpy(&first, arguments, sizeof(first));
  note((std::string("printf ") + format).c_str(), first);
  return 3;
}
void* malloc_call(std::uint64_t size) { return note("malloc", size), reinterpret_cast<void*>(0x1000); }
void free_call(void* memory) { note("free", reinterpret_cast<std::uintptr_t>(memory)); }
void assert_fail(const char* message, const char*, std::uint32_t line, const char*, std::uint32_t, std::uint32_t,
                 std::uint32_t, std::uint32_t, std::uint32_t, std::uint32_t) {
  note((std::string("assert ") + message).c_str(), line);
  throw std::runtime_error("assert");
}

template <typename Function>
void add_symbol(std::map<std::string, void*>& symbols, const std::string& name, Function* function) {
  symbols[name] = reinterpret_cast<void*>(function);
}

std::map<std::string, void*> all_symbols() {
  using abi::Mark;
  std::map<std::string, void*> symbols;
#define MARK(name, result, arguments, kind, lanes, waiting) \
  if (std::string(arguments).empty() && #result[0] == 'i')  \
    add_symbol(symbols, "softgpu." #name, query<static_cast<int>(Mark::name)>);
#include "softgpu/abi/marks.def"
#undef MARK
  add_symbol(symbols, "softgpu.params", params);
  add_symbol(symbols, "softgpu.shared", shared);
  add_symbol(symbols, "softgpu.total_smem_size", total_smem_size);
  add_symbol(symbols, "softgpu.laneid", laneid);
  add_symbol(symbols, "softgpu.clock64", clock64);
  add_symbol(symbols, "softgpu.globaltimer", clock64);
  add_symbol(symbols, "softgpu.gridid", clock64);
  add_symbol(symbols, "softgpu.barrier_sync", barrier_sync);
  add_symbol(symbols, "softgpu.barrier_sync_unaligned", barrier_sync_unaligned);
  add_symbol(symbols, "softgpu.barrier_arrive", barrier_arrive);
  add_symbol(symbols, "softgpu.barrier_arrive_unaligned", barrier_arrive_unaligned);
  add_symbol(symbols, "softgpu.barrier_red_or_unaligned", barrier_red_or_unaligned);
  add_symbol(symbols, "softgpu.barrier_red_and", barrier_red_and);
  add_symbol(symbols, "softgpu.barrier_red_or", barrier_red_or);
  add_symbol(symbols, "softgpu.barrier_red_popc", barrier_red_popc);
#define BIND(name, function) add_symbol(symbols, "softgpu." #name, function<static_cast<int>(Mark::name)>)
  BIND(shfl_up, shuffle);
  BIND(shfl_down, shuffle);
  BIND(shfl_bfly, shuffle);
  BIND(shfl_idx, shuffle);
  BIND(shfl_up_p, shuffle_p);
  BIND(shfl_down_p, shuffle_p);
  BIND(shfl_bfly_p, shuffle_p);
  BIND(shfl_idx_p, shuffle_p);
  BIND(vote_all, vote);
  BIND(vote_any, vote);
  BIND(vote_uni, vote);
  BIND(redux_add, redux);
  BIND(redux_min_s, redux);
  BIND(redux_max_s, redux);
  BIND(redux_min_u, redux);
  BIND(redux_max_u, redux);
  BIND(redux_and, redux);
  BIND(redux_or, redux);
  BIND(redux_xor, redux);
#undef BIND
  add_symbol(symbols, "softgpu.vote_ballot", ballot);
  add_symbol(symbols, "softgpu.match_any_32", match_any_32);
  add_symbol(symbols, "softgpu.match_any_64", match_any_64);
  add_symbol(symbols, "softgpu.match_all_32", match_all_32);
  add_symbol(symbols, "softgpu.match_all_64", match_all_64);
  add_symbol(symbols, "softgpu.activemask", activemask);
  add_symbol(symbols, "softgpu.warp_sync", warp_sync);
  add_symbol(symbols, "softgpu.nanosleep", nanosleep);
  add_symbol(symbols, "softgpu.exit", exit_thread);
  add_symbol(symbols, "softgpu_rt_trap", trap);
  add_symbol(symbols, "softgpu_rt_vprintf", vprintf_call);
  add_symbol(symbols, "softgpu_rt_malloc", malloc_call);
  add_symbol(symbols, "softgpu_rt_free", free_call);
  add_symbol(symbols, "softgpu_rt_assert_fail", assert_fail);
  return symbols;
}

ptx::Module parsed(const std::string& text) {
  ptx::ParseResult result = ptx::parse(text);
  std::string problems;
  for (const ptx::Diagnostic& diagnostic : result.diagnostics) problems += to_string(diagnostic) + "\n";
  if (!result.module) throw std::runtime_error(problems + "in\n" + text);
  return std::move(*result.module);
}

const ptx::Function& kernel_named(const ptx::Module& module, const std::string& name) {
  for (const ptx::Function& function : module.functions)
    if (function.is_kernel && function.name == name) return function;
  throw std::runtime_error("no kernel '" + name + "' in the test's PTX");
}

void optimise(llvm::Module& module) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

template <typename T>
T check(llvm::Expected<T> value) {
  if (!value) throw std::runtime_error(llvm::toString(value.takeError()));
  return std::move(*value);
}
void check(llvm::Error error) {
  if (error) throw std::runtime_error(llvm::toString(std::move(error)));
}

}  // namespace

// The bits and sign of a NaN may change with optimisation.
static std::uint64_t without_nan_bits(std::uint64_t value, const std::string& type) {
  if (type == "f32" && (value & 0x7fffffff) > 0x7f800000) return 0x7fc00000;
  if (type == "f64" && (value & ~(1ull << 63)) > 0x7ff0000000000000) return 0x7ff8000000000000;
  return value;
}

FakeThread& fake_thread() {
  static FakeThread thread;
  return thread;
}

struct Kernel::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  std::map<std::string, std::vector<std::max_align_t>> variables;
  void (*entry)() = nullptr;

  std::byte* bytes(const std::string& name) { return reinterpret_cast<std::byte*>(variables.at(name).data()); }

  void place_variables(const ptx::Module& module) {
    for (const ptx::Variable& variable : module.variables)
      if (variable.space != ptx::Space::shared)
        variables[variable.name].resize(variable.size / sizeof(std::max_align_t) + 1);
    for (const ptx::Variable& variable : module.variables) {
      if (variable.space == ptx::Space::shared) continue;
      std::copy_n(reinterpret_cast<const std::byte*>(variable.initial.data()), variable.initial.size(),
                  bytes(variable.name));
      for (const ptx::Relocation& relocation : variable.relocations) {
        const bool is_function = relocation.target.kind == ptx::Symbol::Kind::function;
        std::uint64_t value = is_function ? lower::function_address(relocation.target.index)
                                          : reinterpret_cast<std::uint64_t>(bytes(relocation.target.name));
        value += static_cast<std::uint64_t>(relocation.addend);
        std::memcpy(bytes(variable.name) + relocation.offset, &value, sizeof(value));
      }
    }
  }

  void bind_symbols() {
    llvm::orc::SymbolMap map;
    std::map<std::string, void*> symbols = all_symbols();
    for (auto& [name, memory] : variables) symbols[name] = memory.data();
    for (auto& [name, address] : symbols)
      map[jit->mangleAndIntern(name)] = {llvm::orc::ExecutorAddr::fromPtr(address), llvm::JITSymbolFlags::Exported};
    check(jit->getMainJITDylib().define(llvm::orc::absoluteSymbols(std::move(map))));
  }
};

Kernel::Kernel(const std::string& text, const std::string& name, bool optimised) : impl_(new Impl) {
  static const bool ready = !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  if (!ready) throw std::runtime_error("LLVM has no code generator for this machine");
  const ptx::Module source = parsed(text);
  auto context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module = lower::lower_kernel(*context, source, kernel_named(source, name));
  llvm::raw_string_ostream(ir_) << *module;
  impl_->jit = check(llvm::orc::LLJITBuilder().create());
  module->setDataLayout(impl_->jit->getDataLayout());
  // The functions of the test throw where the real ones end the thread.
  for (llvm::Function& function : *module) {
    function.removeFnAttr(llvm::Attribute::NoUnwind);
    if (!function.isDeclaration()) function.setUWTableKind(llvm::UWTableKind::Default);
  }
  if (optimised) optimise(*module);
  impl_->place_variables(source);
  impl_->bind_symbols();
  check(impl_->jit->addIRModule(llvm::orc::ThreadSafeModule(std::move(module), std::move(context))));
  impl_->entry = check(impl_->jit->lookup(name)).toPtr<void (*)()>();
}

Kernel::~Kernel() { delete impl_; }

void Kernel::run(const std::vector<std::byte>& params) {
  fake_thread().params = params;
  fake_thread().events.clear();
  std::memset(fake_thread().shared, 0, sizeof(FakeThread::shared));
  impl_->entry();
}

void* Kernel::variable(const std::string& name) { return impl_->bytes(name); }

std::string module(const std::string& text) { return ".version 9.0\n.target sm_90\n.address_size 64\n" + text; }

std::vector<std::uint64_t> evaluate(const Snippet& snippet, const std::vector<Row>& inputs) {
  const auto reg = [](const std::string& type, const char* name) { return ".reg ." + type + " " + name + ";\n"; };
  const auto bits = [](const std::string& type) { return "b" + type.substr(1); };
  const std::string text =
      module(".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n) {\n" + reg(snippet.d, "d") +
             reg(snippet.a, "a") + reg(snippet.b, "b") + reg(snippet.c, "c") +
             ".reg .pred p, q, more;\n.reg .b32 r<4>;\n.reg .b64 w<4>;\n.reg .b64 from, to;\n.reg .b32 left;\n"
             "ld.param.u64 from, [in];\nld.param.u64 to, [out];\nld.param.u32 left, [n];\n"
             "loop:\n"
             "ld.global." +
             bits(snippet.a) +
             " a, [from];\n"
             "ld.global." +
             bits(snippet.b) +
             " b, [from+8];\n"
             "ld.global." +
             bits(snippet.c) + " c, [from+16];\n" + snippet.code +
             "\n"
             "st.global." +
             bits(snippet.d) +
             " [to], d;\n"
             "add.u64 from, from, 24;\nadd.u64 to, to, 8;\nsub.u32 left, left, 1;\n"
             "setp.ne.u32 more, left, 0;\n@more bra loop;\nret;\n}\n");
  std::vector<std::uint64_t> plain(inputs.size()), optimised(inputs.size());
  const auto count = static_cast<std::uint32_t>(inputs.size());
  Kernel(text, "k", false)(inputs.data(), plain.data(), count);
  Kernel(text, "k", true)(inputs.data(), optimised.data(), count);
  for (std::size_t i = 0; i < inputs.size(); ++i)
    EXPECT_EQ(without_nan_bits(plain[i], snippet.d), without_nan_bits(optimised[i], snippet.d)) << snippet.code;
  return plain;
}

std::vector<std::uint64_t> integers(unsigned bits) {
  const std::uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  const std::uint64_t top = 1ull << (bits - 1);
  std::vector<std::uint64_t> values;
  for (std::uint64_t value : {0ull,
                              1ull,
                              2ull,
                              3ull,
                              7ull,
                              8ull,
                              31ull,
                              32ull,
                              33ull,
                              63ull,
                              64ull,
                              65ull,
                              100ull,
                              255ull,
                              256ull,
                              0x7fffull,
                              0x8000ull,
                              0xffffull,
                              0x12345678ull,
                              0x123456789abcdef0ull,
                              0xfedcba9876543210ull,
                              0xaaaaaaaaaaaaaaaaull,
                              0x5555555555555555ull}) {
    values.push_back(value & mask);
    values.push_back(~value & mask);
  }
  for (std::uint64_t value : {top - 1, top, top + 1, mask, mask - 1}) values.push_back(value & mask);
  return values;
}

std::vector<Row> pairs(const std::vector<std::uint64_t>& as, const std::vector<std::uint64_t>& bs) {
  std::vector<Row> rows;
  for (std::uint64_t a : as)
    for (std::uint64_t b : bs) rows.push_back({a, b, 0});
  return rows;
}

std::vector<Row> triples(const std::vector<std::uint64_t>& as, const std::vector<std::uint64_t>& bs,
                         const std::vector<std::uint64_t>& cs) {
  std::vector<Row> rows;
  for (std::uint64_t a : as)
    for (std::uint64_t b : bs)
      for (std::uint64_t c : cs) rows.push_back({a, b, c});
  return rows;
}

}  // namespace softgpu::test
