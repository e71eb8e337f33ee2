#pragma once

#include <cstddef>
#include <cstdint>

namespace sextant {

/// A count or a place that is not negative, as the standard's containers take it.
constexpr std::size_t index(std::int64_t value) { return static_cast<std::size_t>(value); }

}  // namespace sextant
