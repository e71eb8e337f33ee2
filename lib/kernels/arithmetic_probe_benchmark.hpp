#pragma once

namespace sextant {

/// Fused operations on the widest vectors that a core of `threads` takes per cycle where none waits for another: the
/// least of the threads. One or two on a core that is free, less where another hardware thread of that core uses its
/// ports. A cycle is a third of a multiplication in a chain of them, whose speed no neighbour changes.
double fused_operations_per_cycle(int threads);

}  // namespace sextant
