#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sextant {

// What a subject's values look like: measured, never judged; plain data for the report's pictures. Grids are row-major;
// a value that is not finite stays what it is. For rope the values are those of unit vectors: (1, 0) in each pair, so
// that a row reads (cos, sin) pair by pair.

/// The greatest error of one recipe's arithmetic at each position of the grid.
struct RecipeCurve {
  std::string name;
  std::vector<double> absolute;  ///< [positions]
};

/// How far the subject is from the true values on a grid of positions that grows geometrically, 0 (or the claim's
/// first) to its last.
struct ErrorGrid {
  std::vector<std::int64_t> positions;
  std::int64_t pairs = 0;        ///< columns
  std::int64_t pair_stride = 1;  ///< column i is pair i * pair_stride
  /// [positions, pairs] the larger |error| of the pair's two values, in the encoding's unit
  std::vector<double> absolute;
  /// [positions, pairs] the same in ULPs: of the pair's norm for rope, of the value itself otherwise
  std::vector<double> ulps;
  std::vector<double> of_bound;  ///< [positions, pairs] error over the claimed class's bound
  std::vector<double> bound;     ///< [positions] the greatest bound of the claimed class
  std::vector<RecipeCurve> recipes;
};

/// Frequencies in radians per position: as the spec states them, and as the subject's values show.
struct FrequencyCurve {
  std::vector<double> claimed;   ///< [pairs]
  std::vector<double> measured;  ///< [pairs]; NaN where its values do not tell
};

/// Codes of consecutive positions, as the subject gives them.
struct CodeMap {
  std::int64_t first_position = 0;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::vector<double> values;  ///< [rows, width]
};

/// Mean over pairs of cos(w_i k): how alike codes at distance k are, by the spec and by the subject's own codes from
/// one anchor on.
struct SimilarityCurve {
  std::int64_t anchor = 0;
  std::vector<std::int64_t> offsets;
  std::vector<double> claimed;
  std::vector<double> measured;
  // Of the whole claim, whatever part of it the curve shows.
  std::int64_t searched = 0;  ///< offsets 1, 2, ... that were compared: all of the claim's unless there are too many
  std::int64_t nearest = 0;   ///< the offset of the two codes that are nearest to each other
  double nearest_distance = 0;
  std::int64_t searched_for_aliases = 0;  ///< likewise
  std::vector<std::int64_t> aliases;      ///< where the distance of codes has its least local minima, the least first
  std::vector<double> alias_distances;
};

/// A bias of attention scores.
struct BiasMap {
  std::int64_t heads = 0;
  std::int64_t queries = 0;
  std::int64_t keys = 0;
  std::vector<double> values;  ///< [heads, queries, keys]
};

struct Survey {
  std::string measured_class;  ///< the strictest accuracy class whose bound holds everywhere on the grid; empty if none
  /// where the error comes from: "frequency", "angle", "table", "rotation" or "rounding"; empty if not told
  std::string stage;
  /// what tells it: "oracle", which was given what the subject had at each stage, or "growth" with the position
  std::optional<std::string> stage_evidence;
  std::string recipe;  ///< the known recipe whose values equal the subject's bit for bit; empty if none
  /// effective bits of the angle: -log2 of the worst |error| / |angle|; absent if nothing was seen of it
  std::optional<double> angle_bits;
  std::optional<double> output_bits;  ///< effective bits of the values near position 0
  /// the last position before one that is not as claimed, on the grid and by bisection; absent if the first is not
  std::optional<std::int64_t> horizon;
  std::optional<std::int64_t>
      half_spacing;  ///< the last up to which the error stays below half the distance between neighbouring positions
  std::optional<ErrorGrid> errors;
  std::optional<FrequencyCurve> frequencies;
  std::optional<CodeMap> codes;
  /// The same around the horizon, as many rows before it as behind; absent where the class holds to the claim's end.
  std::optional<CodeMap> codes_at_horizon;
  std::optional<SimilarityCurve> similarity;
  std::optional<BiasMap> bias;
};

}  // namespace sextant
