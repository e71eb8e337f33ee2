#include "lib/attention/position_part.hpp"

#include "lib/alibi/score_bias.hpp"
#include "lib/relative_bias/score_bias.hpp"
#include "lib/rope/turning.hpp"
#include "lib/rope_nd/turning.hpp"
#include "lib/spec/of.hpp"
#include "lib/xpos/turning.hpp"

namespace sextant {

std::unique_ptr<const Turning> turning(const Attention& encoding) {
  if (!encoding.position) return nullptr;
  return of_each(*encoding.position, [](const auto& position) -> std::unique_ptr<const Turning> {
    if constexpr (requires { turning_of(position); }) return turning_of(position);
    return nullptr;
  });
}

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias(const Attention& encoding, const Sequences& sequences,
                                              const Tensor* weight) {
  if (!encoding.position) return nullptr;
  return of_each(*encoding.position, [&](const auto& position) -> std::unique_ptr<ScoreBias<Scalar>> {
    if constexpr (requires { score_bias_of<Scalar>(position, sequences, weight); })
      return score_bias_of<Scalar>(position, sequences, weight);
    return nullptr;
  });
}

template std::unique_ptr<ScoreBias<float>> score_bias(const Attention&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias(const Attention&, const Sequences&, const Tensor*);

}  // namespace sextant
