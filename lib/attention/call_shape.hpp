#pragma once

#include <cstdint>
#include <span>

#include "lib/spec/attention.hpp"

namespace sextant {

/// Which tokens of which sequences a call of attention is about. A step is a call of the last tokens of each sequence
/// alone, the keys being those of all.
struct CallShape {
  enum class Kind { whole, step };

  std::int64_t batch;
  std::int64_t queries;  ///< of each batch row
  std::int64_t keys;     ///< likewise
  Kind kind = Kind::whole;
  std::span<const std::int64_t> starts = {};  ///< [batch]: keys before are padding; empty where none are
  std::span<const std::int64_t> ends = {};    ///< [batch]: keys from there on are padding; empty where none are

  /// The keys of a batch row that are no padding.
  KeyRange sequence(std::int64_t row) const {
    const auto at = static_cast<std::size_t>(row);
    return {starts.empty() ? 0 : starts[at], ends.empty() ? keys : ends[at]};
  }

  /// The index among the keys that the token of a query has.
  std::int64_t token(std::int64_t row, std::int64_t query) const {
    return kind == Kind::step ? sequence(row).end - queries + query : query;
  }
};

}  // namespace sextant
