#include "properties/model/attention_calls.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/cells.hpp"
#include "properties/gen/placement.hpp"

namespace sextant {
namespace {

// From one end of the range to the other, each batch row and axis a little further on.
void spread_positions(AttentionCase& request, const gen::PositionRange& range) {
  const std::int64_t width = range.last - range.first;
  const std::int64_t step = std::max<std::int64_t>((width - 1) / request.tokens, 1);
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t start = i / request.tokens % step;
    request.positions[static_cast<std::size_t>(i)] = range.first + (start + i % request.tokens * step) % width;
  }
}

// Every fourth position is that before it; the first, the middle and the last of a row stay.
void repeat_some(AttentionCase& request) {
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t token = i % request.tokens;
    if (token % 4 == 1 && token != request.tokens / 2 && token != request.tokens - 1)
      request.positions[static_cast<std::size_t>(i)] = request.positions[static_cast<std::size_t>(i - 1)];
  }
}

}  // namespace

std::vector<std::int64_t> query_scale_borders(const Attention& encoding, const gen::PositionRange& range) {
  if (!encoding.query_scale) return {};
  const std::int64_t offset = encoding.query_scale->offset;
  if (encoding.query_scale->rule == QueryScaleRule::log_n) {
    // Where the first is scaled, one more by a whole power of two, and the last.
    const std::int64_t first = std::max(encoding.query_scale->length + 1 - offset, range.first);
    if (first >= range.last) return {};
    const std::int64_t twice = 2 * encoding.query_scale->length - offset;
    std::vector<std::int64_t> scaled{first};
    if (twice > first && twice < range.last - 1) scaled.push_back(twice);
    if (range.last - 1 > first) scaled.push_back(range.last - 1);
    return scaled;
  }
  const std::int64_t period = encoding.query_scale->period;
  const std::int64_t first = (std::max<std::int64_t>(range.first + offset, 0) + period) / period;
  const std::int64_t last = (range.last - 1 + offset) / period;
  constexpr std::int64_t in_order = 5;
  std::set<std::int64_t> multiples;
  for (std::int64_t multiple = first; multiple <= std::min(last, first + in_order - 1); ++multiple)
    multiples.insert(multiple);
  for (std::int64_t power = 8; power >= 8 && power <= last; power *= 2) {
    if (power > first) multiples.insert(power);
  }
  if (last >= first) multiples.insert(last);
  std::vector<std::int64_t> borders;
  for (const std::int64_t multiple : multiples) borders.push_back(multiple * period - offset);
  return borders;
}

void space_runs(AttentionCase& request, const gen::PositionRange& range) {
  for (std::int64_t i = 0; i < std::ssize(request.positions); ++i) {
    const std::int64_t room =
        range.last - 1 -
        request.positions[static_cast<std::size_t>(i / request.tokens * request.tokens + request.tokens - 1)];
    const std::int64_t gap = std::min<std::int64_t>(56, room / (request.tokens / 8 + 1));
    request.positions[static_cast<std::size_t>(i)] += gap * (i % request.tokens / 8);
  }
}

void part_rows(AttentionCase& request, const gen::PositionRange& range) {
  for (std::int64_t line = 1; line < std::ssize(request.positions) / request.tokens; ++line) {
    const std::span row =
        std::span(request.positions)
            .subspan(static_cast<std::size_t>(line * request.tokens), static_cast<std::size_t>(request.tokens));
    const std::int64_t place = line % request.batch;
    if (place == 0) continue;
    const std::int64_t room = range.last - 1 - std::ranges::max(row);
    for (std::int64_t& position : row) position += room / (request.batch - 1) * place;
  }
}

namespace {

// By a power of two that sums of products with weights can have in the dtype, or one as small, and that the fast tier
// of the oracle can tell: nothing in float16.
void scale_values(AttentionCase& request, std::int64_t fill) {
  const int most = std::clamp(format_of(request.v.dtype).max_exponent - 48, 0, 400);
  const int exponent = fill % 2 == 0 ? -most : most;
  for (std::int64_t i = 0; i < request.v.elements(); ++i) request.v.set(i, std::ldexp(request.v.at(i), exponent));
}

}  // namespace

namespace {

// Each batch row in the next of the list's calls, of which tokens beyond it have the first cells again.
std::vector<std::int64_t> cells_of_rows(const AttentionCase& request, const gen::PositionRange& range,
                                        std::int64_t number, std::int64_t axes) {
  const std::int64_t side = std::min(attended_side, range.last - range.first);
  const std::vector<std::int64_t> sides(static_cast<std::size_t>(axes), side);
  const std::vector<gen::CellCall> list =
      gen::cell_calls(sides, {.often = 64, .once = 64, .together = 64, .length = 64});
  std::vector<std::vector<std::int64_t>> rows;
  for (std::int64_t row = 0; row < request.batch; ++row)
    rows.push_back(gen::coordinates_of(list[static_cast<std::size_t>((number + row) % std::ssize(list))]));
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    for (const std::vector<std::int64_t>& row : rows) {
      const std::int64_t known = std::ssize(row) / axes;
      for (std::int64_t token = 0; token < request.tokens; ++token)
        positions.push_back(range.first + row[static_cast<std::size_t>(axis * known + token % known)]);
    }
  }
  return positions;
}

}  // namespace

void vary(AttentionCase& request, const gen::PositionRange& range, std::int64_t fill) {
  const std::int64_t axes = std::ssize(request.positions) / (request.batch * request.tokens);
  if (fill % spread_in == 0) spread_positions(request, range);
  if (fill % spread_in == runs_fill) space_runs(request, range);
  if (fill % spread_in == repeats_fill) repeat_some(request);
  if (fill % spread_in == apart_fill) part_rows(request, range);
  if (fill % spread_in == placed_fill && axes > 1) {
    const std::int64_t number = fill / spread_in % (gen::placements + attended_cells);
    request.positions = number < gen::placements
                            ? gen::placed_positions(static_cast<gen::Placement>(number), range, range.first, axes,
                                                    {request.batch, request.tokens, 1})
                            : cells_of_rows(request, range, number - gen::placements, axes);
  }
  if (fill % scaled_in == scaled_fill) scale_values(request, fill);
}

}  // namespace sextant
