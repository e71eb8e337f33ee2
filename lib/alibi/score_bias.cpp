#include "lib/alibi/score_bias.hpp"

#include <vector>

#include "lib/alibi/alibi.hpp"

namespace sextant {
namespace {

template <class Scalar>
constexpr Dtype dtype_of = sizeof(Scalar) == 4 ? Dtype::float32 : Dtype::float64;

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
    const std::int64_t position = sequences_.query(query.batch, query.index);
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

}  // namespace

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const Alibi& encoding, const Sequences& sequences, const Tensor*) {
  return std::make_unique<AlibiBias<Scalar>>(encoding, sequences);
}

template std::unique_ptr<ScoreBias<float>> score_bias_of(const Alibi&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias_of(const Alibi&, const Sequences&, const Tensor*);

}  // namespace sextant
