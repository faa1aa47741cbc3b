// Objects of OpenGL for tests, and resources that are registered of them.
#pragma once

// <cudaGL.h> includes OpenGL's headers, which declare everything only if they are told to.
#define GL_GLEXT_PROTOTYPES
#include <cudaGL.h>

#include <memory>

#include "conformance/driver.hpp"
#include "conformance/kernels.hpp"
#include "support/opengl.hpp"

namespace conformance {

using support::OpenGL;
using support::Profile;

// GL(glGenBuffers)(1, &name): a function of the fixture's context.
#define GL(name) SUPPORT_GL(*gl_, name)

// Skipped where there is no OpenGL.
class GraphicsTest : public DriverTest {
 protected:
  explicit GraphicsTest(Profile profile = Profile::core) : profile_(profile) {}

  void SetUp() override {
    DriverTest::SetUp();
    std::string why;
    gl_ = OpenGL::make(!is_softgpu(), profile_, why);
    if (gl_ == nullptr) GTEST_SKIP() << why;
  }
  void TearDown() override {
    if (gl_ != nullptr) {
      gl_->make_current();
      EXPECT_EQ(GL(glGetError)(), static_cast<GLenum>(GL_NO_ERROR)) << "OpenGL's state is not as it was";
    }
    gl_.reset();
    module_.reset();
    DriverTest::TearDown();
  }

  template <typename T>
  GLuint make_buffer(const std::vector<T>& values) const {
    GLuint name = 0;
    GL(glGenBuffers)(1, &name);
    GL(glBindBuffer)(GL_ARRAY_BUFFER, name);
    GL(glBufferData)(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(values.size() * sizeof(T)), values.data(),
                     GL_DYNAMIC_DRAW);
    GL(glBindBuffer)(GL_ARRAY_BUFFER, 0);
    return name;
  }
  template <typename T>
  std::vector<T> contents(GLuint buffer, std::size_t count) const {
    std::vector<T> values(count);
    GL(glBindBuffer)(GL_ARRAY_BUFFER, buffer);
    GL(glGetBufferSubData)(GL_ARRAY_BUFFER, 0, static_cast<GLsizeiptr>(count * sizeof(T)), values.data());
    GL(glBindBuffer)(GL_ARRAY_BUFFER, 0);
    return values;
  }
  void delete_buffer(GLuint name) const { GL(glDeleteBuffers)(1, &name); }

  // Adds 1 to each of `count` ints.
  CUresult increment(CUdeviceptr data, int count, CUstream stream) {
    if (module_ == nullptr) module_ = std::make_unique<TestModule>(kKernels);
    return launch(module_->function("increment"), static_cast<unsigned>(count + 63) / 64, 64, stream, data, count);
  }

  const Profile profile_;
  std::unique_ptr<OpenGL> gl_;

 private:
  std::unique_ptr<TestModule> module_;
};

// A registered buffer or image; unregistered with the object.
class Registered {
 public:
  static Registered buffer(GLuint name, unsigned flags = 0) {
    Registered made;
    EXPECT_SUCCESS(CU(cuGraphicsGLRegisterBuffer)(&made.resource_, name, flags));
    return made;
  }
  static Registered image(GLuint name, GLenum target, unsigned flags = 0) {
    Registered made;
    EXPECT_SUCCESS(CU(cuGraphicsGLRegisterImage)(&made.resource_, name, target, flags));
    return made;
  }
  Registered(Registered&& other) noexcept : resource_(std::exchange(other.resource_, nullptr)) {}
  ~Registered() {
    if (resource_ != nullptr) {
      EXPECT_SUCCESS(CU(cuGraphicsUnregisterResource)(resource_));
    }
  }

  CUgraphicsResource get() const { return resource_; }
  CUresult map(CUstream stream = nullptr) { return CU(cuGraphicsMapResources)(1, &resource_, stream); }
  CUresult unmap(CUstream stream = nullptr) { return CU(cuGraphicsUnmapResources)(1, &resource_, stream); }

  CUdeviceptr pointer() const {
    CUdeviceptr pointer = 0;
    std::size_t size = 0;
    EXPECT_SUCCESS(CU(cuGraphicsResourceGetMappedPointer)(&pointer, &size, resource_));
    return pointer;
  }
  CUarray array(unsigned index = 0, unsigned level = 0) const {
    CUarray array = nullptr;
    EXPECT_SUCCESS(CU(cuGraphicsSubResourceGetMappedArray)(&array, resource_, index, level));
    return array;
  }

 private:
  Registered() = default;
  CUgraphicsResource resource_ = nullptr;
};

}  // namespace conformance
