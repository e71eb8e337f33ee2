// Over 400 lines: one list of other places, each a few lines.
#include "properties/diagnose/places/taken_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "lib/numeric/dtype.hpp"

namespace sextant::identify {
namespace {

using Asked = AskedPlaces;
using Other = std::optional<Place>;

Other shifted(const Asked& call, std::int64_t batch, std::int64_t token, std::int64_t by) {
  Place place = call.at(batch, token);
  for (std::int64_t& coordinate : place) coordinate += by;
  return place;
}

Other exchanged(const Asked& call, std::int64_t batch, std::int64_t token, std::size_t a, std::size_t b) {
  Place place = call.at(batch, token);
  if (std::max(a, b) >= place.size()) return std::nullopt;
  std::swap(place[a], place[b]);
  return place;
}

Other copied(const Asked& call, std::int64_t batch, std::int64_t token, std::size_t from, std::size_t to) {
  Place place = call.at(batch, token);
  if (std::max(from, to) >= place.size()) return std::nullopt;
  place[to] = place[from];
  return place;
}

// As far from `base` as a token is from `origin`.
Other moved(const Place& from, const Place& origin, const Place& base) {
  Place place = from;
  for (std::size_t axis = 0; axis < place.size(); ++axis) place[axis] += base[axis] - origin[axis];
  return place;
}

// The coordinate that all tokens of a row share is 0.
Other at_first_line(const Asked& call, std::int64_t batch, std::int64_t token) {
  if (call.axes < 2) return std::nullopt;
  Place place = call.at(batch, token);
  for (std::int64_t axis = 0; axis < call.axes; ++axis) {
    bool is_shared = true;
    for (std::int64_t other = 0; other < call.tokens && is_shared; ++other)
      is_shared = call.coordinate(axis, batch, other) == place[index(axis)];
    if (is_shared) place[index(axis)] = 0;
  }
  return place;
}

// A grid that begins again in its row goes on below the first, and on from the claim's first row where that ends.
Other below_the_first_grid(const Asked& call, std::int64_t batch, std::int64_t token) {
  if (call.axes < 2 || !call.grid.is_known()) return std::nullopt;
  const Place first = call.at(batch, 0);
  Place place = call.at(batch, token);
  for (std::int64_t again = 1; again <= token; ++again) {
    if (call.at(batch, again) != first) continue;
    const std::int64_t rows = call.coordinate(0, batch, again - 1) - first[0] + 1;
    place[0] = call.grid.first[0] + (place[0] - call.grid.first[0] + rows) % call.grid.sides[0];
    return place;
  }
  return place;
}

// The cell of a token's number, of all that the grid has, or that its row has where all tokens are of one.
Other cell_by_count(const Asked& call, std::int64_t batch, std::int64_t token) {
  if (!call.grid.is_known()) return std::nullopt;
  const Place own = call.at(batch, token);
  if (call.tokens == call.grid.cells()) return call.grid.cell(token);
  if (call.tokens != call.grid.sides.back()) return own;
  for (std::int64_t other = 0; other < call.tokens; ++other) {
    const Place place = call.at(batch, other);
    if (!std::equal(place.begin(), place.end() - 1, own.begin())) return own;
  }
  Place place = own;
  place.back() = call.grid.first.back() + token;
  return place;
}

// A cell's number in a grid of two axes that is taken for another cell, row after row of so many columns.
Other parted(const Asked& call, std::int64_t batch, std::int64_t token, const auto& number, const auto& columns) {
  if (!call.grid.is_known() || call.axes != 2) return std::nullopt;
  Place own = call.at(batch, token);
  for (std::size_t axis = 0; axis < own.size(); ++axis) own[axis] -= call.grid.first[axis];
  const std::int64_t at = number(own, call.grid.sides);
  const std::int64_t width = columns(call.grid.sides);
  // Before the first cell there is none.
  if (at < 0) return Place{call.grid.first[0] - 1, call.grid.first[1]};
  return Place{call.grid.first[0] + at / width, call.grid.first[1] + at % width};
}

std::vector<TakenPlace> parted_places() {
  const auto number_by_width = [](const Place& at, const std::vector<std::int64_t>& sides) {
    return at[0] * sides[1] + at[1];
  };
  return {
      {"are read at their cell's number, row after row, from a table that has it column after column", "",
       [=](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         const Other swapped = parted(call, batch, token, number_by_width, [](const auto& sides) { return sides[0]; });
         if (!swapped) return std::nullopt;
         const auto& first = call.grid.first;
         return Place{first[0] + (*swapped)[1] - first[1], first[1] + (*swapped)[0] - first[0]};
       }},
      {"have their cell's number divided by the height, not by the width", "",
       [=](const Asked& call, std::int64_t batch, std::int64_t token) {
         return parted(call, batch, token, number_by_width, [](const auto& sides) { return sides[0]; });
       }},
      {"are taken for the cell before, row after row, as where a class token is counted", "",
       [=](const Asked& call, std::int64_t batch, std::int64_t token) {
         return parted(
             call, batch, token, [=](const Place& at, const auto& sides) { return number_by_width(at, sides) - 1; },
             [](const auto& sides) { return sides[1]; });
       }},
      {"are taken for the cell after, row after row, as where a class token is counted", "",
       [=](const Asked& call, std::int64_t batch, std::int64_t token) {
         return parted(
             call, batch, token, [=](const Place& at, const auto& sides) { return number_by_width(at, sides) + 1; },
             [](const auto& sides) { return sides[1]; });
       }},
  };
}

// A first coordinate that stops so far from its row's first, as steps of one or two in a table of a power of two do.
void add_limits_from_first(std::vector<TakenPlace>& list) {
  for (std::int64_t size = 8; size <= 256; size *= 2) {
    for (const std::int64_t most : {size - 1, size, 2 * (size - 1)}) {
      list.push_back({fmt::format("have a first coordinate that stops {} beyond that of their row's first token", most),
                      fmt::format("has a first coordinate that stops {} beyond that of its row's first token", most),
                      [most](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
                        if (call.axes < 2) return std::nullopt;
                        Place place = call.at(batch, token);
                        place[0] = std::min(place[0], call.coordinate(0, batch, 0) + most);
                        return place;
                      }});
    }
  }
}

// A sum of ones in a format, token by token, from where a call of consecutive positions begins.
template <Dtype dtype>
Other summed(const Asked& call, std::int64_t batch, std::int64_t token) {
  if (call.axes > 1) return std::nullopt;
  auto sum = static_cast<double>(call.coordinate(0, batch, token) - token * call.one_step);
  for (std::int64_t i = 0; i < token; ++i) sum = round_to(dtype, sum + static_cast<double>(call.one_step));
  return Place{static_cast<std::int64_t>(sum)};
}

// Another number for a position, of claims of one axis.
Other numbered(const Asked& call, std::int64_t batch, std::int64_t token, const auto& of) {
  if (call.axes > 1) return std::nullopt;
  return Place{static_cast<std::int64_t>(of(call.coordinate(0, batch, token)))};
}

// With its last bits cut off, as far as it has more than a format's.
std::int64_t cut_off(std::int64_t position, int bits) {
  const auto size = static_cast<std::uint64_t>(position < 0 ? -position : position);
  const int more = std::max(0, static_cast<int>(std::bit_width(size)) - bits);
  const auto kept = static_cast<std::int64_t>(size >> more << more);
  return position < 0 ? -kept : kept;
}

// The greatest multiple of so many whole positions that is not above it.
Other multiple(const Asked& call, std::int64_t batch, std::int64_t token, std::int64_t count) {
  return numbered(call, batch, token, [&](std::int64_t p) {
    const std::int64_t step = count * call.one_step;
    return static_cast<std::int64_t>(std::floor(static_cast<double>(p) / static_cast<double>(step))) * step;
  });
}

template <Dtype dtype>
Other rounded(const Asked& call, std::int64_t batch, std::int64_t token) {
  return numbered(call, batch, token,
                  [](std::int64_t p) { return std::min(round_to(dtype, static_cast<double>(p)), 0x1p53); });
}

template <int bits>
Other without_last_bits(const Asked& call, std::int64_t batch, std::int64_t token) {
  return numbered(call, batch, token, [](std::int64_t p) { return cut_off(p, bits); });
}

Other whole(const Asked& call, std::int64_t batch, std::int64_t token) {
  if (call.one_step == 1) return std::nullopt;
  return multiple(call, batch, token, 1);
}

// A distance from its row's first position, and their sum, each rounded to float32.
Other distance_added_in_float32(const Asked& call, std::int64_t batch, std::int64_t token) {
  if (call.axes > 1) return std::nullopt;
  const std::int64_t first = call.coordinate(0, batch, 0);
  const auto in_float32 = [](double number) { return round_to(Dtype::float32, number); };
  const double distance = in_float32(static_cast<double>(call.coordinate(0, batch, token) - first));
  return Place{
      static_cast<std::int64_t>(std::min(in_float32(distance + in_float32(static_cast<double>(first))), 0x1p53))};
}

// Roundings, which single positions may be off by for other reasons.
std::vector<TakenPlace> rounded_places() {
  return {
      {"have positions that are cut off to float32, not rounded", "", without_last_bits<24>, 2},
      {"have positions that are cut off to float16, not rounded", "", without_last_bits<11>, 2},
      {"have positions that are cut off to bfloat16, not rounded", "", without_last_bits<8>, 2},
      {"have positions that are a running sum of ones in bfloat16, token by token", "", summed<Dtype::bfloat16>, 4, 2},
      {"have positions that are a running sum of ones in float16, token by token", "", summed<Dtype::float16>, 4, 2},
      {"have positions that are the sum, in float32, of their row's first one and the distance from it", "",
       distance_added_in_float32, 4},
      {"have positions that are rounded to float32", "", rounded<Dtype::float32>, 4},
      {"have positions that are rounded to float16", "", rounded<Dtype::float16>, 4},
      {"have positions that are rounded to bfloat16", "", rounded<Dtype::bfloat16>, 4},
      {"have positions that are rounded down to whole numbers", "", whole, 4}};
}

std::vector<TakenPlace> fixed_places() {
  return {
      {"have the position of the token before", "has the position of the token before",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         if (token == 0) return std::nullopt;
         return call.at(batch, token - 1);
       }},
      {"have one position more than their own", "has one position more than its own",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return shifted(call, batch, token, 1); }},
      {"have one position less than their own", "has one position less than its own",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return shifted(call, batch, token, -1); }},
      {"have the position of the token after", "has the position of the token after",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         return call.at(batch, (token + 1) % call.tokens);
       }},
      {"have the position of the token after, but for the last, which has its own",
       "has the position of the token after",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         return call.at(batch, std::min(token + 1, call.tokens - 1));
       }},
      {"have the position of the call's first token", "has the position of the call's first token",
       [](const Asked& call, std::int64_t batch, std::int64_t) -> Other { return call.at(batch, 0); }},
      {"have the positions of the batch's first row", "has the position that the batch's first row has there",
       [](const Asked& call, std::int64_t, std::int64_t token) -> Other { return call.at(0, token); }},
      {"follow their first token as the batch's first row does", "follows its row's first token as in the first row",
       [](const Asked& call, std::int64_t batch, std::int64_t token) {
         return moved(call.at(0, token), call.at(0, 0), call.at(batch, 0));
       }},
      {"are taken to follow the first token one by one", "is taken to follow the first token one by one",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         if (call.axes > 1) return std::nullopt;
         return Place{call.coordinate(0, batch, 0) + token};
       }},
      {"have the claim's last position", "has the claim's last position",
       [](const Asked& call, std::int64_t, std::int64_t) -> Other {
         if (call.axes > 1) return std::nullopt;
         return Place{call.last};
       }},
      {"have position 0", "has position 0",
       [](const Asked& call, std::int64_t, std::int64_t) -> Other { return Place(index(call.axes), 0); }},
      {"have a token's place in the call for its position", "has its place in the call for its position",
       [](const Asked& call, std::int64_t, std::int64_t token) -> Other {
         if (call.axes > 1) return std::nullopt;
         return Place{token};
       }},
      {"are taken for the grid's cells row after row", "is taken for the grid's cell of its number",
       [](const Asked& call, std::int64_t, std::int64_t token) -> Other {
         if (!call.grid.is_known()) return std::nullopt;
         return call.grid.cell(token);
       }},
      {"are taken to follow the first cell row after row", "is taken to follow the first cell row after row",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         if (!call.grid.is_known()) return std::nullopt;
         return call.grid.cell(call.grid.number_of(call.at(batch, 0)) + token);
       }},
      {"are taken for all cells of their row in order", "is taken for the cell of its number in its row",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         if (!call.grid.is_known()) return std::nullopt;
         Place place = call.at(batch, token);
         place.back() = call.grid.first.back() + token;
         return place;
       }},
      {"are taken for all cells of the grid, or of their row, in order where as many are asked", "", cell_by_count},
      {"are counted from their row's first position, which is taken for 0",
       "is counted from its row's first position, which is taken for 0",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         if (call.axes > 1) return std::nullopt;
         return Place{call.coordinate(0, batch, token) - call.coordinate(0, batch, 0)};
       }},
      {"are counted from the call's first cell", "is counted from the call's first cell",
       [](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
         if (call.axes < 2) return std::nullopt;
         const Place corner = call.grid.is_known() ? call.grid.first : Place(index(call.axes), 0);
         return moved(call.at(batch, token), call.at(batch, 0), corner);
       }},
      {"have 0 for the coordinate that all of the call share", "has 0 for the coordinate that all of the call share",
       at_first_line},
      {"go on below the first grid", "goes on below the first grid", below_the_first_grid},
      {"have their first two coordinates exchanged", "has its first two coordinates exchanged",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return exchanged(call, batch, token, 0, 1); }},
      {"have their last two coordinates exchanged", "has its last two coordinates exchanged",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return exchanged(call, batch, token, 1, 2); }},
      {"have the second coordinate for the first too", "has the second coordinate for the first too",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return copied(call, batch, token, 1, 0); }},
      {"have the first coordinate for the second too", "has the first coordinate for the second too",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return copied(call, batch, token, 0, 1); }},
      {"have the first coordinate for the third too", "has the first coordinate for the third too",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return copied(call, batch, token, 0, 2); }},
      {"have the third coordinate for the second too", "has the third coordinate for the second too",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return copied(call, batch, token, 2, 1); }},
      {"have the third coordinate for the first too", "has the third coordinate for the first too",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return copied(call, batch, token, 2, 0); }},
      {"have the second coordinate for the third too", "has the second coordinate for the third too",
       [](const Asked& call, std::int64_t batch, std::int64_t token) { return copied(call, batch, token, 1, 2); }},
  };
}

// Of claims of one axis, whose position is another number.
void add_numbers(std::vector<TakenPlace>& list) {
  const auto add = [&](std::string many, std::string one, std::function<std::int64_t(std::int64_t position)> other) {
    list.push_back({std::move(many), std::move(one),
                    [other = std::move(other)](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
                      if (call.axes > 1) return std::nullopt;
                      return Place{other(call.coordinate(0, batch, token))};
                    }});
  };
  add("have twice their position", "has twice its position", [](std::int64_t p) { return 2 * p; });
  add("have half their position, rounded down", "has half its position, rounded down",
      [](std::int64_t p) { return p < 0 ? -((1 - p) / 2) : p / 2; });
  add("have the position with the other sign", "has its position with the other sign",
      [](std::int64_t p) { return -p; });
  for (std::int64_t steps = 2; steps < 8; ++steps) {
    add(fmt::format("have a position {} less than their own", steps),
        fmt::format("has a position {} less than its own", steps), [steps](std::int64_t p) { return p - steps; });
    add(fmt::format("have a position {} more than their own", steps),
        fmt::format("has a position {} more than its own", steps), [steps](std::int64_t p) { return p + steps; });
  }
  // What a table, a page or a block of this size comes to.
  constexpr int most_bits = 17;
  constexpr int least_shifted = 3;
  for (int bits = most_bits; bits > 0; --bits) {
    const std::int64_t size = std::int64_t{1} << bits;
    const std::string text = fmt::format("{}", size);
    list.push_back({fmt::format("have positions that are rounded down to multiples of {}", size), "",
                    [size](const Asked& call, std::int64_t batch, std::int64_t token) {
                      return multiple(call, batch, token, size);
                    },
                    4, size > 2 ? 2U : 1U});
    add("have their position modulo " + text, "has its position modulo " + text,
        [size](std::int64_t p) { return p >= 0 ? p % size : p; });
    if (bits < least_shifted) continue;
    add(fmt::format("have a position {} less than their own", size),
        fmt::format("has a position {} less than its own", size), [size](std::int64_t p) { return p - size; });
    add(fmt::format("have a position {} more than their own", size),
        fmt::format("has a position {} more than its own", size), [size](std::int64_t p) { return p + size; });
    add(fmt::format("have the last position below {}", size), fmt::format("has the last position below {}", size),
        [size](std::int64_t p) { return std::min(p, size - 1); });
  }
}

// Of claims of several axes, one coordinate that is another number.
void add_coordinates(std::vector<TakenPlace>& list) {
  constexpr std::array names{"first", "second", "third"};
  for (std::size_t axis = 0; axis < names.size(); ++axis) {
    const auto add = [&](const std::string& what,
                         std::function<std::int64_t(std::int64_t own, std::int64_t first)> other) {
      list.push_back(
          {"have " + what, "has " + what,
           [axis, other = std::move(other)](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
             if (call.axes < 2 || static_cast<std::int64_t>(axis) >= call.axes) return std::nullopt;
             Place place = call.at(batch, token);
             place[axis] = other(place[axis], call.coordinate(static_cast<std::int64_t>(axis), batch, 0));
             return place;
           }});
    };
    const std::string name = names[axis];
    add("the " + name + " coordinate of the call's first token",
        [](std::int64_t, std::int64_t first) { return first; });
    add("0 for the " + name + " coordinate", [](std::int64_t, std::int64_t) { return 0; });
    add("one less for the " + name + " coordinate", [](std::int64_t own, std::int64_t) { return own - 1; });
    add("one more for the " + name + " coordinate", [](std::int64_t own, std::int64_t) { return own + 1; });
    add("the " + name + " coordinate modulo 256",
        [](std::int64_t own, std::int64_t) { return own < 0 ? own : own % 256; });
  }
}

// Of claims with a grid, tokens from where the first cell comes again below so many rows.
void add_grids_below(std::vector<TakenPlace>& list) {
  for (std::int64_t rows = 2; rows < 8; ++rows) {
    list.push_back({fmt::format("behind a first grid of {} rows go on below it", rows),
                    fmt::format("goes on below a first grid of {} rows", rows),
                    [rows](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
                      if (call.axes < 2 || !call.grid.is_known()) return std::nullopt;
                      const Place first = call.at(batch, 0);
                      Place place = call.at(batch, token);
                      for (std::int64_t again = 2; again <= token; ++again) {
                        if (call.at(batch, again) != first ||
                            call.coordinate(0, batch, again - 1) != first[0] + rows - 1)
                          continue;
                        place[0] = call.grid.first[0] + (place[0] - call.grid.first[0] + rows) % call.grid.sides[0];
                        return place;
                      }
                      return place;
                    }});
  }
}

// The first token of a block of a call, from which those of the block are counted or whose place they have.
void add_blocks(std::vector<TakenPlace>& list) {
  for (const std::int64_t size : {2, 4, 8, 16, 32, 64, 128, 256}) {
    list.push_back({fmt::format("are counted one by one from the first position of their block of {} tokens", size),
                    fmt::format("is counted from the first position of its block of {} tokens", size),
                    [size](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
                      if (call.axes > 1) return std::nullopt;
                      return Place{call.coordinate(0, batch, token / size * size) + token % size};
                    }});
    list.push_back({fmt::format("have the position of the first token of their block of {}", size),
                    fmt::format("has the position of the first token of its block of {}", size),
                    [size](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
                      return call.at(batch, token / size * size);
                    }});
    list.push_back({fmt::format("have the position of the token {} before", size),
                    fmt::format("has the position of the token {} before", size),
                    [size](const Asked& call, std::int64_t batch, std::int64_t token) -> Other {
                      if (token < size) return std::nullopt;
                      return call.at(batch, token - size);
                    }});
  }
}

}  // namespace

const std::vector<TakenPlace>& taken_places() {
  static const std::vector<TakenPlace> all = [] {
    std::vector<TakenPlace> list = rounded_places();
    std::ranges::move(fixed_places(), std::back_inserter(list));
    std::ranges::move(parted_places(), std::back_inserter(list));
    add_numbers(list);
    add_coordinates(list);
    add_grids_below(list);
    add_blocks(list);
    add_limits_from_first(list);
    if (list.size() > PlaceSet().size()) throw std::logic_error("more places than a PlaceSet has");
    return list;
  }();
  return all;
}

}  // namespace sextant::identify
