#pragma once

namespace sextant {

/// What a core's ports take, of operations on the widest vectors of which none waits for another: the least of
/// `threads` threads. A cycle is a third of a multiplication in a chain of them, whose speed no neighbour changes.
struct Arithmetic {
  /// One or two on a core that is free, less where another hardware thread of that core uses its ports.
  double fused_per_cycle;
  /// Fused operations and operations of integers, as many of these as of those, since many cores have ports that take
  /// one kind alone.
  double vector_operations_per_second;
};
Arithmetic measured_arithmetic(int threads);

}  // namespace sextant
