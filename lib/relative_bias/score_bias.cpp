#include "lib/relative_bias/score_bias.hpp"

#include <algorithm>
#include <vector>

#include "lib/relative_bias/relative_bias.hpp"

namespace sextant {
namespace {

// The weights by relative position, for the relative positions that occur if they are few, as they are where positions
// are consecutive; else each is looked up by its bucket.
template <class Scalar>
class LookedUpBias final : public ScoreBias<Scalar> {
 public:
  LookedUpBias(const RelativeBias& encoding, const Sequences& sequences, const Tensor& weight)
      : encoder_(encoding), sequences_(sequences), heads_(weight.shape[1]) {
    for (std::int64_t i = 0; i < weight.elements(); ++i) weight_.push_back(static_cast<Scalar>(weight.at(i)));
    if (sequences.positions.empty()) return;
    const auto [least, greatest] = std::ranges::minmax(sequences.positions);
    const auto [least_query, greatest_query] = std::ranges::minmax(sequences.query_positions);
    reach_ = std::max(greatest, greatest_query) - std::min(least, least_query);
    if (reach_ > 4 * sequences.keys) return;
    for (std::int64_t head = 0; head < heads_; ++head) {
      for (std::int64_t relative = -reach_; relative <= reach_; ++relative)
        by_relative_.push_back(weight_of(relative, head));
    }
  }

  // The weight is rounded to Scalar, which is exact but for float64 weights in float32 arithmetic.
  void fill(const QueryToken& query, std::int64_t first_key, std::span<Scalar> row) const override {
    const std::int64_t position = sequences_.query(query.batch, query.index);
    const std::int64_t* keys = sequences_.at(query.batch, first_key);
    if (by_relative_.empty()) {
      for (Scalar& bias : row) bias = weight_of(*keys++ - position, query.head);
      return;
    }
    const Scalar* middle = by_relative_.data() + query.head * (2 * reach_ + 1) + reach_;
    for (Scalar& bias : row) bias = middle[*keys++ - position];
  }

 private:
  Scalar weight_of(std::int64_t relative, std::int64_t head) const {
    return weight_[static_cast<std::size_t>(encoder_.bucket(relative) * heads_ + head)];
  }

  RelativeBiasEncoder encoder_;
  Sequences sequences_;
  std::int64_t heads_;
  std::int64_t reach_ = 0;
  std::vector<Scalar> weight_;
  std::vector<Scalar> by_relative_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const RelativeBias& encoding, const Sequences& sequences,
                                                 const Tensor* weight) {
  return std::make_unique<LookedUpBias<Scalar>>(encoding, sequences, *weight);
}

template std::unique_ptr<ScoreBias<float>> score_bias_of(const RelativeBias&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias_of(const RelativeBias&, const Sequences&, const Tensor*);

}  // namespace sextant
