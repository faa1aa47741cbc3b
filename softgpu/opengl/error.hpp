// What can be wrong with OpenGL or one of its objects.
#pragma once

#include <stdexcept>
#include <string>

namespace softgpu::opengl {

enum class Problem {
  no_context,   // none is current in the calling thread
  no_object,    // there is no such object, or it is another one than it was
  mapped,       // the program has it mapped in OpenGL
  unfit,        // an object of a kind that CUDA does not take
  unsupported,  // this OpenGL lacks what is needed
  failed,       // OpenGL refused
};

class Error : public std::runtime_error {
 public:
  Error(Problem problem, const std::string& message) : std::runtime_error(message), problem_(problem) {}
  Problem problem() const { return problem_; }

 private:
  Problem problem_;
};

inline void demand(bool condition, Problem problem, const char* message) {
  if (!condition) throw Error(problem, message);
}

}  // namespace softgpu::opengl
