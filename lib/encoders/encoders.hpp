#pragma once

#include <cstdint>
#include <memory>

#include "lib/alibi/alibi.hpp"
#include "lib/alibi/score_bias.hpp"
#include "lib/binary/binary.hpp"
#include "lib/fourier/fourier.hpp"
#include "lib/integer/integer.hpp"
#include "lib/learned/learned.hpp"
#include "lib/log_coordinates/log_coordinates.hpp"
#include "lib/relative_bias/relative_bias.hpp"
#include "lib/relative_bias/score_bias.hpp"
#include "lib/rope/rope.hpp"
#include "lib/rope_nd/rope_nd.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"
#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"
#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"
#include "lib/window_bias/score_bias.hpp"
#include "lib/window_bias/window_bias.hpp"
#include "lib/xpos/turning.hpp"
#include "lib/xpos/xpos.hpp"

// Every encoder of positions: the one list. Attention and the built-in subject find an encoding's by overloading, so
// that one without a line here does not compile. With it stands what encodings do within attention
// (lib/kernels/attention_part.hpp): a rotation's `turning_of`, and a bias's `score_bias_of`.

namespace sextant {

/// The encoding's encoder, for positions of magnitude below `max_position`.
/// @throws what its constructor does.
inline IntegerEncoder encoder_of(const Integer& encoding, std::int64_t max_position) {
  return IntegerEncoder(encoding, max_position);
}
inline BinaryEncoder encoder_of(const Binary& encoding, std::int64_t) { return BinaryEncoder(encoding); }
inline SinusoidalEncoder encoder_of(const Sinusoidal& encoding, std::int64_t) { return SinusoidalEncoder(encoding); }
inline Sinusoidal2dEncoder encoder_of(const Sinusoidal2d& encoding, std::int64_t) {
  return Sinusoidal2dEncoder(encoding);
}
inline SinusoidalNdEncoder encoder_of(const SinusoidalNd& encoding, std::int64_t) {
  return SinusoidalNdEncoder(encoding);
}
inline FourierEncoder encoder_of(const Fourier& encoding, std::int64_t) { return FourierEncoder(encoding); }
inline LogCoordinatesEncoder encoder_of(const LogCoordinates& encoding, std::int64_t) {
  return LogCoordinatesEncoder(encoding);
}
inline LearnedEncoder encoder_of(const Learned& encoding, std::int64_t) { return LearnedEncoder(encoding); }
inline RopeEncoder encoder_of(const Rope& encoding, std::int64_t) { return RopeEncoder(encoding); }
inline std::unique_ptr<const Turning> turning_of(const Rope& encoding) { return turning_alike<RopeEncoder>(encoding); }
inline RopeNdEncoder encoder_of(const RopeNd& encoding, std::int64_t) { return RopeNdEncoder(encoding); }
inline std::unique_ptr<const Turning> turning_of(const RopeNd& encoding) {
  return turning_alike<RopeNdEncoder>(encoding);
}
inline XposEncoder encoder_of(const Xpos& encoding, std::int64_t) { return XposEncoder(encoding); }
inline AlibiEncoder encoder_of(const Alibi& encoding, std::int64_t) { return AlibiEncoder(encoding); }
inline RelativeBiasEncoder encoder_of(const RelativeBias& encoding, std::int64_t) {
  return RelativeBiasEncoder(encoding);
}
inline WindowBiasEncoder encoder_of(const WindowBias& encoding, std::int64_t) { return WindowBiasEncoder(encoding); }

}  // namespace sextant
