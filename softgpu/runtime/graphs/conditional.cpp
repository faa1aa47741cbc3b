#include "softgpu/runtime/graphs/conditional.hpp"

#include <utility>

#include "softgpu/exec/conditional_values.hpp"

namespace softgpu::runtime {

using exec::ConditionalValues;

ConditionalVariable::ConditionalVariable(std::shared_ptr<Context> context, std::optional<unsigned> at_launch)
    : context_(std::move(context)), at_launch_(at_launch), handle_(ConditionalValues::all().add()) {}

ConditionalVariable::~ConditionalVariable() { ConditionalValues::all().remove(handle_); }

void ConditionalVariable::assign_default() const { ConditionalValues::all().set(handle_, *at_launch_); }

unsigned ConditionalVariable::value() const { return ConditionalValues::all().get(handle_).value_or(0); }

}  // namespace softgpu::runtime
