// ALiBi within attention, in the dtype that it computes in:
//
//   1. By distance: slope times -|query - key|, one head and query at a time. Where positions of a row are few and
//      close (listed_bias.hpp), each distance's bias is made once, and rows are parts of that list.
//   2. By key index: slope times key, the same for every query, made once for the call.
//
// Slope, distance and product are rounded once each: within 3 u of the bias (docs/proofs/attention-encoder.md).

#include "lib/alibi/score_bias.hpp"

#include <cstdlib>
#include <utility>
#include <vector>

#include "lib/alibi/alibi.hpp"
#include "lib/kernels/listed_bias.hpp"

namespace sextant {
namespace {

template <class Scalar>
constexpr Dtype dtype_of = sizeof(Scalar) == 4 ? Dtype::float32 : Dtype::float64;

// The slope, the distance and the product are rounded once each.
template <class Scalar>
Scalar bias_of(Scalar slope, std::int64_t distance) {
  return slope * static_cast<Scalar>(-distance);
}

template <class Scalar>
std::vector<Scalar> slopes_of(const Alibi& encoding) {
  const AlibiEncoder encoder(encoding);
  std::vector<Scalar> slopes;
  for (std::int64_t head = 0; head < encoding.num_heads; ++head)
    slopes.push_back(static_cast<Scalar>(encoder.slope(head, dtype_of<Scalar>)));
  return slopes;
}

// Of any positions.
template <class Scalar>
class DistanceBias final : public ScoreBias<Scalar> {
 public:
  DistanceBias(std::vector<Scalar> slopes, const Sequences& sequences)
      : slopes_(std::move(slopes)), sequences_(sequences) {}

  const Scalar* row(const QueryToken& query, std::int64_t first_key, std::span<Scalar> room) const override {
    const Scalar slope = slopes_[static_cast<std::size_t>(query.head)];
    const std::int64_t position = sequences_.query(query.batch, query.index);
    const std::int64_t* keys = sequences_.at(query.batch, first_key);
    for (Scalar& bias : room) bias = bias_of(slope, std::abs(position - *keys++));
    return room.data();
  }

 private:
  std::vector<Scalar> slopes_;
  Sequences sequences_;
};

// The same for every query.
template <class Scalar>
class KeyIndexBias final : public ScoreBias<Scalar> {
 public:
  KeyIndexBias(const std::vector<Scalar>& slopes, const Sequences& sequences)
      : heads_(std::ssize(slopes)), keys_(sequences.keys) {
    biases_.reserve(slopes.size() * sequences.positions.size());
    for (std::int64_t start = 0; start < std::ssize(sequences.positions); start += keys_) {
      const auto of_row = sequences.positions.subspan(static_cast<std::size_t>(start), static_cast<std::size_t>(keys_));
      for (const Scalar slope : slopes)
        for (const std::int64_t key : of_row) biases_.push_back(bias_of(slope, -key));
    }
  }

  const Scalar* row(const QueryToken& query, std::int64_t first_key, std::span<Scalar>) const override {
    return biases_.data() + (query.batch * heads_ + query.head) * keys_ + first_key;
  }

 private:
  std::int64_t heads_;
  std::int64_t keys_;
  std::vector<Scalar> biases_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const Alibi& encoding, const Sequences& sequences, const Tensor*) {
  std::vector<Scalar> slopes = slopes_of<Scalar>(encoding);
  if (encoding.form == AlibiForm::key_index) return std::make_unique<KeyIndexBias<Scalar>>(slopes, sequences);
  const auto range = short_range(sequences);
  if (!range) return std::make_unique<DistanceBias<Scalar>>(std::move(slopes), sequences);
  std::vector<Scalar> lists;
  lists.reserve(slopes.size() * static_cast<std::size_t>(range->count()));
  for (const Scalar slope : slopes) {
    for (std::int64_t relative = range->first; relative <= range->last; ++relative)
      lists.push_back(bias_of(slope, std::abs(relative)));
  }
  return std::make_unique<ListedBias<Scalar>>(sequences, *range, std::move(lists));
}

template std::unique_ptr<ScoreBias<float>> score_bias_of(const Alibi&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias_of(const Alibi&, const Sequences&, const Tensor*);

}  // namespace sextant
