#include "lib/attention/position_part.hpp"

#include <stdexcept>
#include <string>

#include "lib/alibi/score_bias.hpp"
#include "lib/relative_bias/score_bias.hpp"
#include "lib/rope/turning.hpp"
#include "lib/rope_nd/turning.hpp"
#include "lib/spec/of.hpp"
#include "lib/xpos/turning.hpp"

namespace sextant {
namespace {

// Nothing is done for a position that acts by this operation on what attention is given, which would pass as attention
// without a position.
void refuse_if_acting_by(Operation operation, const PositionEncoding& position) {
  if (signature_of(position).operation == operation)
    throw std::logic_error("attention does not know how " + std::string(encoding_name(position)) + " acts");
}

}  // namespace

std::unique_ptr<const Turning> turning(const Attention& encoding) {
  if (!encoding.position) return nullptr;
  return of_each(*encoding.position, [](const auto& position) -> std::unique_ptr<const Turning> {
    if constexpr (requires { turning_of(position); }) return turning_of(position);
    refuse_if_acting_by(Operation::rotate, position);
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
    refuse_if_acting_by(Operation::bias, position);
    return nullptr;
  });
}

template std::unique_ptr<ScoreBias<float>> score_bias(const Attention&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias(const Attention&, const Sequences&, const Tensor*);

}  // namespace sextant
