// The kinds of statements that programs are made of. Each adds one to the draft.
#pragma once

#include "fuzz/ptx/generator/draft.hpp"

namespace ptx_fuzz {

/// Up to `most` statements of any kind that is allowed where the draft is.
void add_statements(Draft& draft, int most);
/// One that concerns registers and memory of the thread alone.
void add_simple_statement(Draft& draft);

// values.cpp
void add_integer(Draft& draft);
void add_uniform(Draft& draft);
void add_predicate(Draft& draft);

// carries.cpp
void add_carry_chain(Draft& draft);

// floats.cpp
void add_float(Draft& draft);
void add_packed(Draft& draft);

// accesses.cpp
void add_access(Draft& draft);

// flow.cpp
void add_if(Draft& draft);
void add_switch(Draft& draft);
void add_loop(Draft& draft);
void add_endless_loop(Draft& draft);
void add_masked_loop(Draft& draft);
void add_jump_out(Draft& draft);
void add_exit(Draft& draft);

// gotos.cpp
void add_gotos(Draft& draft);

// atomics.cpp
void add_atomic(Draft& draft);

// barriers.cpp
void add_exchange(Draft& draft);
void add_barrier_reduction(Draft& draft);
void add_barrier_in_pieces(Draft& draft);
void add_named_barriers(Draft& draft);
void add_total(Draft& draft);

// signals.cpp
void add_signal(Draft& draft);

// warps.cpp
void add_warp_operation(Draft& draft);
void add_warp_exchange(Draft& draft);
void add_warp_operation_in_pieces(Draft& draft);

// calls.cpp
void add_function(Program& program, Plan& plan, Random& random);
void add_call(Draft& draft);
void add_call_of(Draft& draft, int function);

}  // namespace ptx_fuzz
