#include "lib/numeric/wide.hpp"

namespace sextant {

std::unique_lock<std::mutex> wide_lock() {
  static std::mutex boost_constants;
  return std::unique_lock(boost_constants);
}

}  // namespace sextant
