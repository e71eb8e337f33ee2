// Fills the constants of Boost's wide floats by one thread, before others read them.

#include "lib/kernels/wide.hpp"

namespace sextant {
namespace {

// The constants in question are those of numeric_limits; the others are local to a thread or filled under a lock.
// Boost's functions use those of the number with expression templates, and filling one of them fills those of Wide
// itself, which has none.
template <unsigned bits>
bool filled() {
  using Limits = std::numeric_limits<
      boost::multiprecision::number<typename Wide<bits>::backend_type, boost::multiprecision::et_on>>;
  Limits::epsilon();
  Limits::round_error();
  (Limits::min)();
  (Limits::max)();
  Limits::infinity();
  Limits::quiet_NaN();
  return true;
}

}  // namespace

void fill_wide_constants() {
  [[maybe_unused]] static const bool all = filled<256>() && filled<1024>() && filled<5000>();
}

}  // namespace sextant
