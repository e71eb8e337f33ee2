// A relative bias within attention: for each key of a query the weight of the bucket of their distance and the query's
// head. Where positions of a row are few and close (listed_bias.hpp), each distance's weight is looked up once, and
// rows are parts of that list; else every one is. There is nothing to prove but the weights' conversion.

#include "lib/relative_bias/score_bias.hpp"

#include <vector>

#include "lib/kernels/listed_bias.hpp"
#include "lib/relative_bias/relative_bias.hpp"

namespace sextant {
namespace {

// The weights, rounded to Scalar, which is exact but for float64 weights in float32 arithmetic.
template <class Scalar>
std::vector<Scalar> rounded(const Tensor& weight) {
  std::vector<Scalar> weights;
  for (std::int64_t i = 0; i < weight.elements(); ++i) weights.push_back(static_cast<Scalar>(weight.at(i)));
  return weights;
}

// Of any positions: each weight is looked up by its bucket.
template <class Scalar>
class LookedUpBias final : public ScoreBias<Scalar> {
 public:
  LookedUpBias(const RelativeBias& encoding, const Sequences& sequences, const Tensor& weight)
      : encoder_(encoding), sequences_(sequences), heads_(weight.shape[1]), weight_(rounded<Scalar>(weight)) {}

  const Scalar* row(const QueryToken& query, std::int64_t first_key, std::span<Scalar> room) const override {
    const std::int64_t position = sequences_.query(query.batch, query.index);
    const std::int64_t* keys = sequences_.at(query.batch, first_key);
    for (Scalar& bias : room)
      bias = weight_[static_cast<std::size_t>(encoder_.bucket(*keys++ - position) * heads_ + query.head)];
    return room.data();
  }

 private:
  RelativeBiasEncoder encoder_;
  Sequences sequences_;
  std::int64_t heads_;
  std::vector<Scalar> weight_;
};

template <class Scalar>
std::vector<Scalar> lists_of(const RelativeBias& encoding, const RelativeRange& range, const Tensor& weight) {
  const RelativeBiasEncoder encoder(encoding);
  const std::vector<Scalar> weights = rounded<Scalar>(weight);
  const auto heads = static_cast<std::size_t>(weight.shape[1]);
  const auto count = static_cast<std::size_t>(range.count());
  std::vector<Scalar> lists(heads * count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto row = static_cast<std::size_t>(encoder.bucket(range.first + static_cast<std::int64_t>(i))) * heads;
    for (std::size_t head = 0; head < heads; ++head) lists[head * count + i] = weights[row + head];
  }
  return lists;
}

}  // namespace

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const RelativeBias& encoding, const Sequences& sequences,
                                                 const Tensor* weight) {
  const auto range = short_range(sequences);
  if (!range) return std::make_unique<LookedUpBias<Scalar>>(encoding, sequences, *weight);
  return std::make_unique<ListedBias<Scalar>>(sequences, *range, lists_of<Scalar>(encoding, *range, *weight));
}

template std::unique_ptr<ScoreBias<float>> score_bias_of(const RelativeBias&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias_of(const RelativeBias&, const Sequences&, const Tensor*);

}  // namespace sextant
