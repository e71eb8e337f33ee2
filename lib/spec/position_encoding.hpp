#pragma once

#include <variant>

#include "lib/spec/alibi.hpp"
#include "lib/spec/binary.hpp"
#include "lib/spec/integer.hpp"
#include "lib/spec/learned.hpp"
#include "lib/spec/relative_bias.hpp"
#include "lib/spec/rope.hpp"
#include "lib/spec/rope_nd.hpp"
#include "lib/spec/sinusoidal.hpp"
#include "lib/spec/sinusoidal_2d.hpp"
#include "lib/spec/xpos.hpp"

namespace sextant {

/// Every encoding of a position: what attention may carry.
using PositionEncoding =
    std::variant<Integer, Binary, Sinusoidal, Sinusoidal2d, Learned, Rope, RopeNd, Xpos, Alibi, RelativeBias>;

}  // namespace sextant
