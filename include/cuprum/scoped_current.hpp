// A device or a context that is current for a while.
//
//   {
//     ScopedCurrent on(Device(1));
//     Program(source).compile(Target::cubin);   // for device 1
//   }                                            // what was current before is again
#pragma once

#include <cuprum/context.hpp>
#include <cuprum/detail/export.hpp>

namespace cuprum::inline CUPRUM_ABI {

class Device;

/// Makes a context current on the calling thread for as long as it lives, and keeps the context for that time. What was
/// current before, if anything, is so again afterwards, whatever Device::set_current made current meanwhile. Belongs to
/// the thread that made it; several are to end in the reverse order, as local variables do.
class CUPRUM_API ScopedCurrent {
 public:
  /// The device's primary context.
  [[nodiscard]] explicit ScopedCurrent(const Device& device);
  /// Throws InvalidArgument for a context that is closed.
  [[nodiscard]] explicit ScopedCurrent(const Context& context);
  ScopedCurrent(const ScopedCurrent&) = delete;
  ScopedCurrent& operator=(const ScopedCurrent&) = delete;
  ~ScopedCurrent();

 private:
  Context context_;
};

}  // namespace cuprum::inline CUPRUM_ABI
