// Where the user's programs are cached, and the cache that Program::compile uses by itself.
#pragma once

#include <string>

namespace cuprum::core {

/// What CUPRUM_CACHE_DIR says, or the cuprum folder in the user's cache folder; empty when the variable is "off", or
/// when the user has no home.
std::string user_cache_folder();

}  // namespace cuprum::core
