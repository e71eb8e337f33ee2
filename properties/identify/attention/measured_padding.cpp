#include "properties/identify/attention/measured_padding.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "lib/numeric/index.hpp"
#include "properties/identify/attention/other_padding.hpp"

namespace sextant::identify {
namespace {

using Edges = std::vector<std::int64_t>;

// The edge on one side of each row.
struct EdgeSide {
  Edges AttentionCase::*of;
  std::string_view words;  // "ends before padding on the right"
  std::string_view verb;
};

struct OrderOfRows {
  std::string_view words;
  std::int64_t (*source)(std::int64_t row, std::int64_t rows);
};

constexpr OrderOfRows orders_of_rows[] = {
    {"each that of the row before it, the first that of the last",
     [](std::int64_t row, std::int64_t rows) { return (row + rows - 1) % rows; }},
    {"each that of the row after it, the last that of the first",
     [](std::int64_t row, std::int64_t rows) { return (row + 1) % rows; }},
    {"every two neighbouring rows exchange theirs",
     [](std::int64_t row, std::int64_t rows) { return std::min(row ^ 1, rows - 1); }},
    {"the first two exchange theirs",
     [](std::int64_t row, std::int64_t rows) { return rows > 1 && row < 2 ? 1 - row : row; }},
    {"the last two exchange theirs",
     [](std::int64_t row, std::int64_t rows) { return rows > 1 && row >= rows - 2 ? 2 * rows - 3 - row : row; }},
    {"the second has that of the first", [](std::int64_t row, std::int64_t) { return row == 1 ? 0 : row; }},
    {"each but the first has that of the row before it",
     [](std::int64_t row, std::int64_t) { return std::max<std::int64_t>(row - 1, 0); }},
};

Edges taken_in_order(const OrderOfRows& order, const Edges& own) {
  Edges made;
  for (std::int64_t row = 0; row < std::ssize(own); ++row)
    made.push_back(own[index(order.source(row, std::ssize(own)))]);
  return made;
}

// Whether a row may have it: its queries are tokens of it.
bool is_edge(const AttentionCase& request, const EdgeSide& side, std::int64_t row, std::int64_t edge) {
  const KeyRange own = request.sequence(row);
  const KeyRange made = side.of == &AttentionCase::ends ? KeyRange{own.first, edge} : KeyRange{edge, own.end};
  const std::int64_t least = request.is_step() ? request.queries() : 1;
  return made.first >= 0 && made.end <= request.tokens && made.count() >= least;
}

std::optional<std::int64_t> measured_edge(const AskedCase& asked, const EdgeSide& side, std::int64_t row) {
  std::vector<AttentionPlaceOfHead> places;
  std::ranges::copy_if(asked.places(), std::back_inserter(places), [&](const auto& at) { return at.batch == row; });
  const Edges& given = asked.request().*side.of;
  // Its own, then another row's, then any.
  Edges tried{given[index(row)]};
  tried.insert(tried.end(), given.begin(), given.end());
  for (std::int64_t edge = 0; edge <= asked.request().tokens; ++edge) tried.push_back(edge);
  for (const std::int64_t edge : tried) {
    if (!is_edge(asked.request(), side, row, edge)) continue;
    const OtherAttention other =
        with_ends("", [&side, row, edge](AttentionCase& request) { (request.*side.of)[index(row)] = edge; });
    if (asked.off_of(other, places)) return edge;
  }
  return std::nullopt;
}

// "batch row 1 ends 1 key too late, where ..." of rows that are all as far off, on the same side.
std::optional<OtherAttention> moved_edges(const EdgeSide& side, const Edges& own, const Edges& measured) {
  Edges rows;
  std::optional<std::int64_t> offset;
  for (std::int64_t row = 0; row < std::ssize(own); ++row) {
    const std::int64_t off = measured[index(row)] - own[index(row)];
    if (off == 0) continue;
    if (offset && *offset != off) return std::nullopt;
    offset = off;
    rows.push_back(row);
  }
  if (!offset) return std::nullopt;
  const std::int64_t keys = std::abs(*offset);
  return with_ends(
      fmt::format("batch {} {} {}{} {} {} too {}", rows.size() == 1 ? "row" : "rows", fmt::join(rows, ", "), side.verb,
                  rows.size() == 1 ? "s" : "", keys, keys == 1 ? "key" : "keys", *offset > 0 ? "late" : "early"),
      [of = side.of, rows, by = *offset](AttentionCase& request) {
        for (const std::int64_t row : rows) {
          if (row >= request.batch) continue;
          std::int64_t& edge = (request.*of)[index(row)];
          edge = std::clamp<std::int64_t>(edge + by, 0, request.tokens);
        }
      });
}

}  // namespace

std::vector<OtherAttention> measured_padding(const AskedCase& asked) {
  std::vector<OtherAttention> list;
  const AttentionCase& request = asked.request();
  if (request.batch < 2) return list;
  for (const EdgeSide& side : {EdgeSide{&AttentionCase::ends, "ends before padding on the right", "end"},
                               EdgeSide{&AttentionCase::starts, "starts behind padding on the left", "begin"}}) {
    const Edges& own = request.*side.of;
    Edges measured;
    for (std::int64_t row = 0; row < std::ssize(own); ++row) {
      const auto edge = measured_edge(asked, side, row);
      if (!edge) break;
      measured.push_back(*edge);
    }
    // A row in which another's edge shows nothing has its own one too.
    for (const OrderOfRows& order : orders_of_rows) {
      if (own.empty() || taken_in_order(order, own) == own) continue;
      list.push_back(with_ends(
          fmt::format("batch rows have each other's {}: {}", side.words, order.words),
          [of = side.of, &order](AttentionCase& changed) { changed.*of = taken_in_order(order, changed.*of); }));
    }
    if (measured.size() != own.size() || measured == own || own.empty()) continue;
    if (auto moved = moved_edges(side, own, measured)) {
      list.push_back(std::move(*moved));
      continue;
    }
    list.push_back(with_ends(fmt::format("batch rows {} at keys {}, where their own are {}", side.verb,
                                         fmt::join(measured, ", "), fmt::join(own, ", ")),
                             [of = side.of, measured](AttentionCase& changed) {
                               if (std::ssize(measured) == changed.batch) changed.*of = measured;
                             }));
  }
  return list;
}

}  // namespace sextant::identify
