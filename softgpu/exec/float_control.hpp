// Floating-point control while generated code runs: the default one, whatever the host thread has set
// (programs built with -ffast-math flush denormals in every thread of the process).
#pragma once

#if defined(__x86_64__)
  #include <xmmintrin.h>
#else
  #include <cfenv>
#endif

namespace softgpu::exec {

class DefaultFloatControl {
 public:
#if defined(__x86_64__)
  DefaultFloatControl() : saved_(_mm_getcsr()) {
    if (saved_ != kDefault) _mm_setcsr(kDefault);
  }
  ~DefaultFloatControl() { _mm_setcsr(saved_); }

 private:
  static constexpr unsigned kDefault = 0x1f80;  // all exceptions masked, round to nearest
  unsigned saved_;
#else
  DefaultFloatControl() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~DefaultFloatControl() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
 public:
  DefaultFloatControl(const DefaultFloatControl&) = delete;
  DefaultFloatControl& operator=(const DefaultFloatControl&) = delete;
};

}  // namespace softgpu::exec
