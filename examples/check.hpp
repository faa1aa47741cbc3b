// What the examples share: telling what is right, and counting what is not.
#pragma once

#include <iostream>

inline int failures = 0;

inline void check(bool is_right, const char* what) {
  std::cout << (is_right ? "  ok: " : "  WRONG: ") << what << '\n';
  if (!is_right) ++failures;
}

/// Runs an example; the result is for main() to return.
template <typename Example>
int run(Example example) {
  try {
    example();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  return failures == 0 ? 0 : 1;
}
