#pragma once

#include <string>

namespace cuprum::core {

/// The picture that Graphviz draws of a graph in its language. Throws NotSupported where its program "dot" is not
/// installed, SystemError when that fails.
std::string draw_as_svg(const std::string& graph);

}  // namespace cuprum::core
