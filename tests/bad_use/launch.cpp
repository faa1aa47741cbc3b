// Uses of launches that must not compile, each by itself: -DBAD=n chooses one, and without it everything compiles. What
// the compiler must say is in CMakeLists.txt.
#include <cuprum/prepared_launch.hpp>
#include <memory>
#include <string>
#include <vector>

using namespace cuprum;

#ifndef BAD
  #define BAD 0
#endif

struct Plain {
  int first, second;
};

void use(const Stream& stream, const Kernel& kernel, const Buffer& buffer) {
  const LaunchConfig config{.grid = 4, .block = 256};
  TypedKernel<void(float*, float, std::size_t)> scale(kernel);
  PreparedLaunch step = prepare(stream, config, scale, buffer, 2.0f, 1024);
  launch(stream, config, kernel, buffer, 2.0f, std::size_t{1024}, Plain{1, 2});
  launch(stream, config, scale, buffer, 2.0f, 1024);
  step.set<1>(3.0f);

#if BAD == 1
  float host[4] = {};
  launch(stream, config, kernel, host);
#elif BAD == 2
  launch(stream, config, kernel, "text");
#elif BAD == 3
  launch(stream, config, kernel, std::string("text"));
#elif BAD == 4
  launch(stream, config, kernel, std::vector<float>(4));
#elif BAD == 5
  launch(stream, config, kernel, 1.0L);
#elif BAD == 6
  launch(stream, config, kernel, &use);
#elif BAD == 7
  launch(stream, config, kernel, &Plain::first);
#elif BAD == 8
  launch(stream, config, kernel, std::make_shared<float>(1.0f));
#elif BAD == 9
  launch(stream, config, kernel, stream);
#elif BAD == 10
  prepare(stream, config, kernel, std::string("text"));
#elif BAD == 11
  int host[4] = {};
  prepare(stream, config, kernel, host);

#elif BAD == 20
  launch(stream, config, scale, buffer, 2.0f);
#elif BAD == 21
  launch(stream, config, scale, buffer, 2.0f, 1024, 1);
#elif BAD == 22
  launch(stream, config, scale, static_cast<double*>(nullptr), 2.0f, 1024);
#elif BAD == 23
  launch(stream, config, scale, static_cast<const float*>(nullptr), 2.0f, 1024);
#elif BAD == 24
  launch(stream, config, scale, buffer.handle(), 2.0f, 1024);
#elif BAD == 25
  launch(stream, config, scale, buffer, "two", 1024);
#elif BAD == 26
  float host[4] = {};
  launch(stream, config, scale, host, 2.0f, 4);
#elif BAD == 27
  launch(stream, config, scale, std::span<const float>(), 2.0f, 1024);
#elif BAD == 28
  launch(stream, config, scale, buffer, buffer, 1024);

#elif BAD == 30
  TypedKernel<void(float&)> reference(kernel);
#elif BAD == 31
  TypedKernel<void(Buffer)> takes_buffer(kernel);
#elif BAD == 32
  TypedKernel<void(std::span<float>)> takes_span(kernel);
#elif BAD == 33
  TypedKernel<void(std::string)> takes_string(kernel);
#elif BAD == 34
  TypedKernel<int(float*)> returns(kernel);
#elif BAD == 35
  TypedKernel<float*, int> no_function(kernel);
#elif BAD == 36
  TypedKernel<void(float*, float, std::size_t)> implicit = kernel;

#elif BAD == 40
  step.set<3>(1);
#elif BAD == 41
  step.set<1>(buffer);
#elif BAD == 42
  step.set<0>(static_cast<int*>(nullptr));
#elif BAD == 43
  const auto& constant = step;
  constant.set<1>(3.0f);
#elif BAD == 44
  step(kernel);
#endif
}
