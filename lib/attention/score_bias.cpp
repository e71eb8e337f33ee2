#include "lib/attention/score_bias.hpp"

#include <algorithm>
#include <vector>

#include "lib/alibi/alibi.hpp"
#include "lib/relative_bias/relative_bias.hpp"

namespace sextant {
namespace {

template <class Scalar>
constexpr Dtype dtype_of = sizeof(Scalar) == 4 ? Dtype::float32 : Dtype::float64;

// The positions of one sequence after the other.
struct Sequences {
  std::span<const std::int64_t> positions;
  std::int64_t n;

  const std::int64_t* at(std::int64_t batch, std::int64_t index) const { return positions.data() + batch * n + index; }
};

template <class Scalar>
class AlibiBias final : public ScoreBias<Scalar> {
 public:
  AlibiBias(const Alibi& encoding, const Sequences& sequences) : form_(encoding.form), sequences_(sequences) {
    const AlibiEncoder encoder(encoding);
    for (std::int64_t head = 0; head < encoding.num_heads; ++head) {
      slopes_.push_back(static_cast<Scalar>(encoder.slope(head, dtype_of<Scalar>)));
    }
  }

  // The slope, the distance and the product are rounded once each.
  void fill(const QueryToken& query, std::int64_t first_key, std::span<Scalar> row) const override {
    const Scalar slope = slopes_[static_cast<std::size_t>(query.head)];
    const std::int64_t position = *sequences_.at(query.batch, query.index);
    const std::int64_t* keys = sequences_.at(query.batch, first_key);
    for (Scalar& bias : row) {
      const std::int64_t key = *keys++;
      const std::int64_t distance = position > key ? position - key : key - position;
      bias = slope * static_cast<Scalar>(form_ == AlibiForm::key_index ? key : -distance);
    }
  }

 private:
  AlibiForm form_;
  Sequences sequences_;
  std::vector<Scalar> slopes_;
};

// The weights by relative position, for the relative positions that occur if they are few, as they are where positions
// are consecutive; else each is looked up by its bucket.
template <class Scalar>
class LookedUpBias final : public ScoreBias<Scalar> {
 public:
  LookedUpBias(const RelativeBias& encoding, const Sequences& sequences, std::int64_t heads, const Tensor& weight)
      : encoder_(encoding), sequences_(sequences), heads_(heads) {
    for (std::int64_t i = 0; i < weight.elements(); ++i) weight_.push_back(static_cast<Scalar>(weight.at(i)));
    if (sequences.positions.empty()) return;
    const auto [least, greatest] = std::ranges::minmax(sequences.positions);
    reach_ = greatest - least;
    if (reach_ > 4 * sequences.n) return;
    for (std::int64_t head = 0; head < heads; ++head) {
      for (std::int64_t relative = -reach_; relative <= reach_; ++relative)
        by_relative_.push_back(weight_of(relative, head));
    }
  }

  // The weight is rounded to Scalar, which is exact but for float64 weights in float32 arithmetic.
  void fill(const QueryToken& query, std::int64_t first_key, std::span<Scalar> row) const override {
    const std::int64_t position = *sequences_.at(query.batch, query.index);
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
std::unique_ptr<ScoreBias<Scalar>> score_bias(const Attention& encoding, std::span<const std::int64_t> positions,
                                              std::int64_t n, const Tensor* weight) {
  if (!encoding.position) return nullptr;
  const Sequences sequences{positions, n};
  if (const auto* alibi = std::get_if<Alibi>(&*encoding.position))
    return std::make_unique<AlibiBias<Scalar>>(*alibi, sequences);
  if (const auto* relative = std::get_if<RelativeBias>(&*encoding.position)) {
    return std::make_unique<LookedUpBias<Scalar>>(*relative, sequences, encoding.num_heads, *weight);
  }
  return nullptr;
}

template std::unique_ptr<ScoreBias<float>> score_bias(const Attention&, std::span<const std::int64_t>, std::int64_t,
                                                      const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias(const Attention&, std::span<const std::int64_t>, std::int64_t,
                                                       const Tensor*);

}  // namespace sextant
