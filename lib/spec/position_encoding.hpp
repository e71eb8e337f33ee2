#pragma once

#include <variant>

#include "lib/spec/alibi.hpp"
#include "lib/spec/binary.hpp"
#include "lib/spec/fourier.hpp"
#include "lib/spec/integer.hpp"
#include "lib/spec/learned.hpp"
#include "lib/spec/log_coordinates.hpp"
#include "lib/spec/relative_bias.hpp"
#include "lib/spec/rope.hpp"
#include "lib/spec/rope_nd.hpp"
#include "lib/spec/sinusoidal.hpp"
#include "lib/spec/sinusoidal_2d.hpp"
#include "lib/spec/sinusoidal_nd.hpp"
#include "lib/spec/window_bias.hpp"
#include "lib/spec/xpos.hpp"

namespace sextant {

/// Every encoding of a position: what attention may carry. This is the one list of them; their order is that of help
/// and tables.
using PositionEncoding = std::variant<Integer, Binary, Sinusoidal, Sinusoidal2d, SinusoidalNd, Fourier, LogCoordinates,
                                      Learned, Rope, RopeNd, Xpos, Alibi, RelativeBias, WindowBias>;

/// A variant with more alternatives at its end.
template <class Variant, class... More>
struct Extended;
template <class... Alternatives, class... More>
struct Extended<std::variant<Alternatives...>, More...> {
  using Type = std::variant<Alternatives..., More...>;
};

}  // namespace sextant
