#pragma once

#include <cstdio>

/// Counts what is not so, and names it.
inline int& failures() {
  static int count = 0;
  return count;
}
inline void expect(bool so, const char* what) {
  if (so) return;
  std::fprintf(stderr, "not so: %s\n", what);
  ++failures();
}
