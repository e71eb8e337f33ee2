#include "lib/attention/position_part.hpp"

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include "lib/encoders/encoders.hpp"
#include "lib/spec/of.hpp"

namespace sextant {
namespace {

// Nothing is done for a position that acts by this operation on what attention is given, which would pass as attention
// without a position.
void refuse_if_acting_by(Operation operation, const PositionEncoding& position) {
  if (signature_of(position).operation == operation)
    throw std::logic_error("attention does not know how " + std::string(encoding_name(position)) + " acts");
}

// Queries and keys are turned alike by the encoder of a rotation.
template <class Encoding>
using EncoderOf = decltype(encoder_of(std::declval<const Encoding&>(), std::int64_t{}));

template <class Encoder>
concept Rotation = requires(const Encoder& encoder, const Tensor& x, std::span<const std::int64_t> positions) {
  encoder.rotate(x, positions);
};

}  // namespace

std::unique_ptr<const Turning> turning(const Attention& encoding) {
  if (!encoding.position) return nullptr;
  return of_each(*encoding.position, [](const auto& position) -> std::unique_ptr<const Turning> {
    using Encoder = EncoderOf<std::remove_cvref_t<decltype(position)>>;
    if constexpr (requires { turning_of(position); }) {
      return turning_of(position);
    } else if constexpr (Rotation<Encoder>) {
      return std::make_unique<TurnedBy<Encoder>>(Encoder(position));
    } else {
      refuse_if_acting_by(Operation::rotate, position);
      return nullptr;
    }
  });
}

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias(const Attention& encoding, const Sequences& sequences,
                                              const Tensor* weight) {
  if (!encoding.position) return nullptr;
  return of_each(*encoding.position, [&](const auto& position) -> std::unique_ptr<ScoreBias<Scalar>> {
    if constexpr (requires { score_bias_of<Scalar>(position, sequences, weight); }) {
      return score_bias_of<Scalar>(position, sequences, weight);
    } else {
      refuse_if_acting_by(Operation::bias, position);
      return nullptr;
    }
  });
}

template std::unique_ptr<ScoreBias<float>> score_bias(const Attention&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias(const Attention&, const Sequences&, const Tensor*);

}  // namespace sextant
