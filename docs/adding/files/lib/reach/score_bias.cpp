#include "lib/reach/score_bias.hpp"

#include <algorithm>
#include <cstdlib>

namespace sextant {
namespace {

template <class Scalar>
class ReachBias final : public ScoreBias<Scalar> {
 public:
  explicit ReachBias(const Sequences& sequences) : sequences_(sequences) {}

  const Scalar* row(const QueryToken& query, std::int64_t first_key, std::span<Scalar> room) const override {
    const std::int64_t position = sequences_.query(query.batch, query.index);
    const std::int64_t* keys = sequences_.at(query.batch, first_key);
    for (Scalar& bias : room) {
      bias = static_cast<Scalar>(-std::min(std::abs(position - *keys++), std::int64_t{1} << query.head));
    }
    return room.data();
  }

 private:
  Sequences sequences_;
};

}  // namespace

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias_of(const Reach&, const Sequences& sequences, const Tensor*) {
  return std::make_unique<ReachBias<Scalar>>(sequences);
}

template std::unique_ptr<ScoreBias<float>> score_bias_of(const Reach&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias_of(const Reach&, const Sequences&, const Tensor*);

}  // namespace sextant
