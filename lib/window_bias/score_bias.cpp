// A window's bias within attention: for each key of a query the weight of their row (WindowBiasEncoder::row_of) and the
// query's head, from weights that are converted once. There is nothing to prove but the conversion.

#include "lib/window_bias/score_bias.hpp"

#include <vector>

#include "lib/window_bias/window_bias.hpp"

namespace sextant {
namespace {

template <class Scalar>
class WindowScoreBias final : public ScoreBias<Scalar> {
 public:
  WindowScoreBias(const WindowBias& encoding, const Sequences& sequences, const Tensor& weight)
      : encoder_(encoding), sequences_(sequences), heads_(weight.shape[1]) {
    encoder_.check("DotProductAttention", "positions", sequences_.positions);
    encoder_.check("DotProductAttention", "query_positions", sequences_.query_positions);
    for (std::int64_t i = 0; i < weight.elements(); ++i) weight_.push_back(static_cast<Scalar>(weight.at(i)));
  }

  // The weight is rounded to Scalar, which is exact but for float64 weights in float32 arithmetic.
  const Scalar* row(const QueryToken& query, std::int64_t first_key, std::span<Scalar> room) const override {
    const std::int64_t position = sequences_.query(query.batch, query.index);
    const std::int64_t* keys = sequences_.at(query.batch, first_key);
    for (Scalar& bias : room)
      bias = weight_[static_cast<std::size_t>(encoder_.row_of(position, *keys++) * heads_ + query.head)];
    return room.data();
  }

 private:
  WindowBiasEncoder encoder_;
  Sequences sequences_;
  std::int64_t heads_;
  std::vector<Scalar> weight_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const WindowBias& encoding, const Sequences& sequences,
                                                 const Tensor* weight) {
  return std::make_unique<WindowScoreBias<Scalar>>(encoding, sequences, *weight);
}

template std::unique_ptr<ScoreBias<float>> score_bias_of(const WindowBias&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias_of(const WindowBias&, const Sequences&, const Tensor*);

}  // namespace sextant
