// Messages that can't be exceptions.
#pragma once

#include <functional>
#include <string_view>

namespace cuprum::support {

using LogSink = std::function<void(std::string_view)>;

/// Hands a line to the sink (stderr by default). Never throws; works while the process exits.
void log(std::string_view line) noexcept;

LogSink set_log_sink(LogSink sink);

}  // namespace cuprum::support
