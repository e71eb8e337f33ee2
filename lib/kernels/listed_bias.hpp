#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "lib/kernels/attention_part.hpp"
#include "lib/kernels/relative_range.hpp"

// Biases within attention that depend on key - query alone. A row is a part of its head's list (relative_range.hpp), so
// that nothing is computed or copied for it.

namespace sextant {

/// The range of all sequences, where each has a short one and all together have one that is not much longer.
std::optional<RelativeRange> short_range(const Sequences& sequences);

/// A bias that is in lists.
template <class Scalar>
class ListedBias final : public ScoreBias<Scalar> {
 public:
  /// @param range  what short_range gave for the sequences, whose positions outlive this
  /// @param lists  of each head in turn, the biases of the range in order, each within 3 u of itself
  ListedBias(const Sequences& sequences, const RelativeRange& range, std::vector<Scalar> lists)
      : sequences_(sequences), range_(range), lists_(std::move(lists)) {}

  const Scalar* row(const QueryToken& query, std::int64_t first_key, std::span<Scalar>) const override {
    const std::int64_t relative = *sequences_.at(query.batch, first_key) - sequences_.query(query.batch, query.index);
    return lists_.data() + query.head * range_.count() + relative - range_.first;
  }

 private:
  Sequences sequences_;
  RelativeRange range_;
  std::vector<Scalar> lists_;
};

}  // namespace sextant
