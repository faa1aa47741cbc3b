// What conditional nodes decide by: CUgraphConditionalHandle.
#pragma once

#include <cuda.h>

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace softgpu::runtime {

class Context;

// A number that kernels set and a conditional node looks at. Its handle is valid as long as the object.
class ConditionalVariable {
 public:
  // `at_launch`: what it is when a launch begins; none: what the last one left.
  ConditionalVariable(std::shared_ptr<Context> context, std::optional<unsigned> at_launch);
  ~ConditionalVariable();
  ConditionalVariable(const ConditionalVariable&) = delete;
  ConditionalVariable& operator=(const ConditionalVariable&) = delete;

  CUgraphConditionalHandle handle() const { return handle_; }
  const std::shared_ptr<Context>& context() const { return context_; }
  bool has_default() const { return at_launch_.has_value(); }
  void assign_default() const;  // which it must have
  unsigned value() const;

  // There is one number for each handle, and so there can be one executable graph that uses it. False: there is one.
  bool take() { return !taken_.exchange(true); }
  void give_back() { taken_ = false; }

 private:
  const std::shared_ptr<Context> context_;
  const std::optional<unsigned> at_launch_;
  const CUgraphConditionalHandle handle_;
  std::atomic<bool> taken_{false};
};

using ConditionalVariables = std::vector<std::shared_ptr<ConditionalVariable>>;

}  // namespace softgpu::runtime
