// What a position does within attention: of the encoding that a spec holds, how it turns queries and keys, or the bias
// that it adds to scores. An encoder that can rotate or give a bias outside attention must do so here (static_assert).

#include "lib/attention/position_part.hpp"

#include <cstdint>
#include <utility>

#include "lib/encoders/encoders.hpp"
#include "lib/spec/of.hpp"

namespace sextant {
namespace {

template <class Encoding>
using EncoderOf = decltype(encoder_of(std::declval<const Encoding&>(), std::int64_t{}));

// An encoder that rotates, or gives a bias, must do so within attention too: else it would pass as attention without a
// position.
template <class Encoding>
constexpr bool rotates = requires(const EncoderOf<Encoding>& encoder) {
  encoder.rotate({}, {});
};
template <class Encoding>
constexpr bool gives_bias = requires(const EncoderOf<Encoding>& encoder) {
  encoder.bias({}, {}, {});
};

}  // namespace

std::unique_ptr<const Turning> turning(const Attention& encoding) {
  if (!encoding.position) return nullptr;
  return of_each(*encoding.position, []<class Encoding>(const Encoding& position) -> std::unique_ptr<const Turning> {
    constexpr bool is_known = requires { turning_of(position); };
    static_assert(is_known == rotates<Encoding>, "lib/encoders/encoders.hpp: a rotation has a turning_of");
    if constexpr (is_known) return turning_of(position);
    return nullptr;
  });
}

template <class Scalar>
std::unique_ptr<ScoreBias<Scalar>> score_bias(const Attention& encoding, const Sequences& sequences,
                                              const Tensor* weight) {
  if (!encoding.position) return nullptr;
  return of_each(
      *encoding.position, [&]<class Encoding>(const Encoding& position) -> std::unique_ptr<ScoreBias<Scalar>> {
        constexpr bool is_known = requires { score_bias_of<Scalar>(position, sequences, weight); };
        static_assert(is_known == gives_bias<Encoding>, "lib/encoders/encoders.hpp: a bias has a score_bias_of");
        if constexpr (is_known) return score_bias_of<Scalar>(position, sequences, weight);
        return nullptr;
      });
}

template std::unique_ptr<ScoreBias<float>> score_bias(const Attention&, const Sequences&, const Tensor*);
template std::unique_ptr<ScoreBias<double>> score_bias(const Attention&, const Sequences&, const Tensor*);

}  // namespace sextant
