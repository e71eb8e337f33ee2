#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/identify/rotation_probe.hpp"

namespace sextant::identify {

/// A vector of a call, and the call.
struct PlaceInCall {
  std::int64_t position;
  std::int64_t batch;
  std::int64_t token;
  std::int64_t head;
  std::int64_t batches;
  std::int64_t tokens;
  const std::vector<std::int64_t>& positions;  ///< [batch, tokens]
};

/// Where answers are those of another position than the one given.
struct PositionsUsed {
  bool as_given = true;
  /// "positions are rounded to bfloat16: right up to 256", or of positions as given "angles are rounded to bfloat16";
  /// empty where there is nothing to say, or no known way explains them.
  std::string words;
};

/// Which positions vectors are turned by, of pairs with these frequencies (signed, in radians per step of the
/// positions): from calls of several batch rows, tokens and heads at positions that are no powers of two.
PositionsUsed positions_used(Session& session, const Spec& spec, const Rope& shape,
                             const std::vector<TurnedPair>& pairs, const std::vector<double>& radians,
                             const Norm& norm);

}  // namespace sextant::identify
