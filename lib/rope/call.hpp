#pragma once

#include <cstdint>
#include <span>

#include "lib/kernels/parallel.hpp"
#include "lib/rope/kernels.hpp"
#include "lib/rope/rope.hpp"

namespace sextant {

// How a call becomes a job of the kernels: the rotary encoding's, and those of the encodings that turn pairs likewise.

/// Turns the vectors of x, paired as `in`, into y, paired as `out`, in the given direction: the channels and places of
/// a job, and its units. The frequencies, what belongs to them, and the rounding are left to the caller. Precondition:
/// x and y are floating, of one shape, head_dim wide, y is x or apart from it, and there are as many positions as
/// tokens.
RopeJob job_of(const Rope& encoding, Pairing in, Pairing out, Direction direction, const ConstHeads& x,
               std::span<const std::int64_t> positions, const Heads& y);

/// A dense tensor's vectors, and memory of the same shape.
ConstHeads heads_of(const Tensor& x);
Heads heads_of(const Tensor& shape, std::span<std::byte> memory);

/// The number of a job's units of work over `batch` of its sequences.
inline std::int64_t units_of(const RopeJob& job, std::int64_t batch) {
  return batch * job.tokens * ((job.heads + job.heads_per_unit - 1) / job.heads_per_unit);
}

/// The number of threads that so many units with so many elements in all are worth.
int threads_worth(std::int64_t units, std::int64_t elements);

/// Calls work(first, last) on contiguous shares of [0, units), one a thread, on as many threads as the elements are
/// worth.
template <class Work>
void share(std::int64_t units, std::int64_t elements, Work work) {
  parallel_shares(units, threads_worth(units, elements), work);
}

}  // namespace sextant
