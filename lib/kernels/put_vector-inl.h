// A vector to memory, into the caches or past them, and one from it, for one Highway target. Included inside
// HWY_NAMESPACE by a file that is compiled once per target. lib/kernels/line_writer.hpp says when a store should pass
// by the caches.

#if defined(SEXTANT_LIB_KERNELS_PUT_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_KERNELS_PUT_VECTOR_INL_H_
#undef SEXTANT_LIB_KERNELS_PUT_VECTOR_INL_H_
#else
#define SEXTANT_LIB_KERNELS_PUT_VECTOR_INL_H_
#endif

#include <hwy/highway.h>

#include "lib/kernels/line_writer.hpp"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// A vector to memory, at an address that is a multiple of what it fills if it is streamed.
template <Caching caching, class V, typename Element>
HWY_INLINE void PutVector(V vector, Element* to) {
  const hn::DFromV<V> d;
  caching == Caching::streamed ? hn::Stream(vector, d, to) : hn::StoreU(vector, d, to);
}

/// The vector in a register: GCC reads it from memory again for each use where an operation can, and loops within the
/// caches are near to the two loads that a core has in a cycle.
template <class V>
HWY_INLINE V ReadOnce(V value) {
#if HWY_TARGET <= HWY_AVX3
  asm("" : "+v"(value.raw));
#endif
  return value;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
