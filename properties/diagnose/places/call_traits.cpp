// Over 400 lines: a list of traits of calls, each a few lines, and what tells them from each other.
#include "properties/diagnose/places/call_traits.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <utility>

namespace sextant::identify {
namespace {

// A batch row of a call.
struct AskedRow {
  const AskedPlaces& asked;
  std::int64_t batch;
  std::vector<Place> places;
  bool are_whole;
  std::ptrdiff_t first_again = std::find(places.begin() + 1, places.end(), places.front()) - places.begin();

  std::int64_t tokens() const { return std::ssize(places); }
  bool has_axes() const { return asked.axes > 1; }
  const AskedGrid& grid() const { return asked.grid; }
};

bool is_every_step(const AskedRow& row, const std::function<bool(std::int64_t step)>& is) {
  if (row.has_axes() || row.tokens() < 2) return false;
  for (std::size_t i = 1; i < row.places.size(); ++i) {
    if (!is(row.places[i][0] - row.places[i - 1][0])) return false;
  }
  return true;
}

bool falls(const AskedRow& row) {
  return is_every_step(row, [](std::int64_t step) { return step < 0; });
}

bool has_equal_steps(const AskedRow& row) {
  const std::int64_t first = row.tokens() > 1 ? row.places[1][0] - row.places[0][0] : 0;
  return is_every_step(row, [first](std::int64_t step) { return step == first; });
}

bool is_constant(const AskedRow& row, std::size_t axis) {
  return row.tokens() > 1 &&
         std::ranges::all_of(row.places, [&](const Place& place) { return place[axis] == row.places.front()[axis]; });
}

bool is_zero(const AskedRow& row, std::size_t axis) {
  return std::ranges::all_of(row.places, [axis](const Place& place) { return place[axis] == 0; });
}

// The sides of a box of cells, all of which follow each other row after row from the first on.
std::optional<std::vector<std::int64_t>> box_of(const std::vector<Place>& places) {
  const std::size_t axes = places.front().size();
  std::vector<std::int64_t> sides(axes, 1);
  std::int64_t cells = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    for (const Place& place : places) sides[axis] = std::max(sides[axis], place[axis] - places.front()[axis] + 1);
    cells *= sides[axis];
    if (cells > std::ssize(places)) return std::nullopt;
  }
  if (cells != std::ssize(places)) return std::nullopt;
  const AskedGrid box{places.front(), sides};
  for (std::int64_t number = 0; number < cells; ++number) {
    if (box.cell(number) != places[index(number)]) return std::nullopt;
  }
  return sides;
}

std::vector<Place> with_axes_reversed(std::vector<Place> places) {
  for (Place& place : places) std::ranges::reverse(place);
  return places;
}

// Of more than one cell on at least two axes.
bool is_image(const std::vector<std::int64_t>& sides) {
  return std::ranges::count_if(sides, [](std::int64_t side) { return side > 1; }) > 1;
}

std::optional<std::vector<std::int64_t>> image_of(const AskedRow& row) {
  if (!row.has_axes()) return std::nullopt;
  auto sides = box_of(row.places);
  return sides && is_image(*sides) ? sides : std::nullopt;
}

bool has_all_cells(const AskedRow& row, std::int64_t besides = 0) {
  return row.grid().is_known() && row.tokens() == row.grid().cells() + besides;
}

bool is_raster_on(const AskedRow& row, std::size_t axis) {
  for (std::int64_t number = 0; number < row.tokens(); ++number) {
    if (row.grid().cell(number)[axis] != row.places[index(number)][axis]) return false;
  }
  return true;
}

bool alternates(const AskedRow& row) {
  if (row.asked.axes != 2) return false;
  for (std::int64_t number = 0; number < row.tokens(); ++number) {
    Place cell = row.grid().cell(number);
    if ((cell[0] - row.grid().first[0]) % 2 == 1) cell[1] = 2 * row.grid().first[1] + row.grid().sides[1] - 1 - cell[1];
    if (cell != row.places[index(number)]) return false;
  }
  return true;
}

// From the corner on, on more than one row.
bool rises_with_gaps(const AskedRow& row) {
  if (!row.grid().is_known() || row.places.front()[0] == row.places.back()[0]) return false;
  std::int64_t before = -1;
  bool has_gap = false;
  for (const Place& place : row.places) {
    const std::int64_t number = row.grid().number_of(place);
    if (number <= before) return false;
    has_gap = has_gap || number > before + 1;
    before = number;
  }
  return has_gap;
}

bool has_fewer_frames(const AskedRow& row) {
  if (row.asked.axes != 3 || !row.grid().is_known()) return false;
  const std::int64_t frame = row.grid().sides[1] * row.grid().sides[2];
  return row.tokens() > frame && row.tokens() % frame == 0 && row.tokens() < row.grid().cells() && is_raster_on(row, 0);
}

bool is_image_twice(const AskedRow& row) {
  if (!row.grid().is_known() || row.tokens() % 2 != 0 || row.places.front() != row.grid().first) return false;
  const auto middle = row.places.begin() + row.tokens() / 2;
  if (!std::equal(row.places.begin(), middle, middle)) return false;
  const auto sides = box_of({row.places.begin(), middle});
  return sides && is_image(*sides);
}

bool has_cells_of_row(const AskedRow& row) {
  if (!row.grid().is_known() || row.tokens() != row.grid().sides.back()) return false;
  for (std::size_t axis = 0; axis + 1 < row.grid().sides.size(); ++axis) {
    if (!is_constant(row, axis)) return false;
  }
  return true;
}

bool is_first_rows(const AskedRow& row, bool (*is)(const std::vector<Place>& own, const std::vector<Place>& first)) {
  return row.batch > 0 && is(row.places, row.asked.row(0));
}

bool has_gap_before(const AskedRow& row, std::size_t token) {
  return token > 0 && !row.has_axes() && row.places[token][0] > row.places[token - 1][0] + 1;
}

bool has_halves_of_equal_ends(const AskedRow& row) {
  const std::ptrdiff_t half = row.tokens() / 2;
  if (row.has_axes() || half < 2 || row.tokens() % 2 != 0) return false;
  const auto middle = row.places.begin() + half;
  return row.places.front() == *(middle - 1) && *middle == row.places.back() && *middle != row.places.front();
}

struct TraitOfToken {
  CallTrait called;
  std::function<bool(const AskedRow& row, std::size_t token)> holds;
};
struct TraitOfRow {
  CallTrait called;
  std::function<bool(const AskedRow& row)> holds;
};

constexpr const char* ordinals[] = {"first", "second", "third"};

std::vector<TraitOfToken> traits_of_tokens() {
  std::vector<TraitOfToken> list{
      {{"tokens at the position of the token before", "at the position of the token before"},
       [](const AskedRow& row, std::size_t token) { return token > 0 && row.places[token] == row.places[token - 1]; }},
      {{"tokens at a lower position than the token before", "at a lower position than the token before"},
       [](const AskedRow& row, std::size_t token) {
         return token > 0 && !row.has_axes() && row.places[token] < row.places[token - 1];
       }},
      {{"tokens one position below the token before", "one position below the token before"},
       [](const AskedRow& row, std::size_t token) {
         return token > 0 && !row.has_axes() && row.places[token][0] == row.places[token - 1][0] - 1;
       }},
      {{"tokens behind a gap of positions", "behind a gap of positions"}, has_gap_before},
      {{"tokens whose coordinates are all the same number", "where all coordinates are the same number"},
       [](const AskedRow& row, std::size_t token) {
         const Place& place = row.places[token];
         return row.has_axes() && std::ranges::count(place, place.front()) == std::ssize(place);
       }}};
  for (std::size_t axis = 0; axis < std::size(ordinals); ++axis) {
    const std::string which = ordinals[axis];
    list.push_back({{"tokens whose " + which + " coordinate is 0", "where the " + which + " coordinate is 0"},
                    [axis](const AskedRow& row, std::size_t token) {
                      return row.has_axes() && std::ssize(row.places[token]) > static_cast<std::ptrdiff_t>(axis) &&
                             row.places[token][axis] == 0;
                    }});
  }
  list.push_back(
      {{"tokens with the first coordinate of the token before", "with the first coordinate of the token before"},
       [](const AskedRow& row, std::size_t token) {
         return token > 0 && row.has_axes() && row.places[token][0] == row.places[token - 1][0];
       }});
  list.push_back({{"tokens from where the first cell comes again", "from where the first cell comes again"},
                  [](const AskedRow& row, std::size_t token) {
                    return row.has_axes() && static_cast<std::ptrdiff_t>(token) >= row.first_again;
                  }});
  return list;
}

std::vector<TraitOfRow> traits_of_one_axis() {
  return {
      {{"whose positions fall", ""}, falls},
      {{"whose positions fall in equal steps", ""},
       [](const AskedRow& row) { return falls(row) && has_equal_steps(row); }},
      {{"whose positions fall in steps that differ", ""},
       [](const AskedRow& row) { return falls(row) && !has_equal_steps(row); }},
      {{"whose positions are all equal", ""},
       [](const AskedRow& row) { return is_constant(row, 0) && !row.has_axes(); }},
      {{"whose positions follow each other one by one", ""},
       [](const AskedRow& row) { return is_every_step(row, [](std::int64_t step) { return step == 1; }); }},
      {{"whose last position is as far from the first as if they followed each other", ""},
       [](const AskedRow& row) {
         return !row.has_axes() && row.tokens() > 2 && row.places.back()[0] - row.places.front()[0] == row.tokens() - 1;
       }},
      {{"whose first four positions are equal", ""},
       [](const AskedRow& row) {
         return !row.has_axes() && row.tokens() > 4 &&
                std::all_of(row.places.begin(), row.places.begin() + 4,
                            [&](const Place& one) { return one == row.places[0]; });
       }},
      {{"whose positions are all whole numbers", ""}, [](const AskedRow& row) { return row.are_whole; }},
      {{"whose positions fall, the first two steps not alike", ""},
       [](const AskedRow& row) {
         return falls(row) && row.tokens() > 2 &&
                row.places[0][0] - row.places[1][0] != row.places[1][0] - row.places[2][0];
       }},
      {{"of two halves that each end at the position they begin with", ""}, has_halves_of_equal_ends},
      {{"whose first two positions differ", ""},
       [](const AskedRow& row) { return !row.has_axes() && row.tokens() > 1 && row.places[0] != row.places[1]; }},
  };
}

std::vector<TraitOfRow> traits_of_grids() {
  std::vector<TraitOfRow> list{
      {{"of as many tokens as the grid has cells", ""}, [](const AskedRow& row) { return has_all_cells(row); }},
      {{"of the whole grid column after column", ""},
       [](const AskedRow& row) {
         if (!has_all_cells(row)) return false;
         std::vector<std::int64_t> sides = row.grid().sides;
         std::ranges::reverse(sides);
         return box_of(with_axes_reversed(row.places)) == sides;
       }},
      {{"of the whole grid in rows of alternating direction", ""},
       [](const AskedRow& row) { return has_all_cells(row) && alternates(row); }},
      {{"of the grid's number of cells that begin and end as it does", ""},
       [](const AskedRow& row) {
         return has_all_cells(row) && row.places.front() == row.grid().cell(0) &&
                row.places.back() == row.grid().cell(row.tokens() - 1);
       }},
      {{"of a class token and the whole grid after it", ""},
       [](const AskedRow& row) {
         if (!has_all_cells(row, 1) || row.places[0] != row.places[1]) return false;
         return box_of({row.places.begin() + 1, row.places.end()}) == row.grid().sides;
       }},
      {{"of an image row after row", ""}, [](const AskedRow& row) { return image_of(row).has_value(); }},
      {{"of an image, row after row, smaller than the grid", ""},
       [](const AskedRow& row) {
         const auto sides = image_of(row);
         return sides && row.grid().is_known() && *sides != row.grid().sides;
       }},
      {{"of an image, row after row, of more rows than columns", ""},
       [](const AskedRow& row) {
         const auto sides = image_of(row);
         return sides && (*sides)[sides->size() - 2] > sides->back() && sides->back() > 1;
       }},
      {{"whose first coordinates never fall", ""},
       [](const AskedRow& row) {
         return row.has_axes() && row.tokens() > 1 &&
                std::ranges::is_sorted(row.places, {}, [](const Place& place) { return place.front(); });
       }},
      {{"whose last token has not one number for all coordinates", ""},
       [](const AskedRow& row) {
         const Place& last = row.places.back();
         return row.has_axes() && std::ranges::count(last, last.front()) < std::ssize(last);
       }},
      {{"in which the first cell comes again", ""},
       [](const AskedRow& row) { return row.has_axes() && row.first_again < std::ssize(row.places); }},
      {{"of an image that begins at the corner", ""},
       [](const AskedRow& row) {
         return image_of(row) && row.grid().is_known() && row.places.front() == row.grid().first;
       }},
      {{"of an image column after column from the corner", ""},
       [](const AskedRow& row) {
         if (!row.has_axes() || !row.grid().is_known() || row.places.front() != row.grid().first) return false;
         const auto sides = box_of(with_axes_reversed(row.places));
         return sides && is_image(*sides);
       }},
      {{"of an image, row after row, narrower than the grid", ""},
       [](const AskedRow& row) {
         const auto sides = image_of(row);
         return sides && row.grid().is_known() && sides->back() < row.grid().sides.back();
       }},
      {{"of an image that does not begin at the corner", ""},
       [](const AskedRow& row) {
         const auto sides = image_of(row);
         return sides && row.grid().is_known() && row.places.front() != row.grid().first;
       }},
      {{"of an image column after column", ""},
       [](const AskedRow& row) {
         if (!row.has_axes()) return false;
         const auto sides = box_of(with_axes_reversed(row.places));
         return sides && is_image(*sides);
       }},
      {{"of whole frames, of which the grid has more", ""}, has_fewer_frames},
      {{"of the same image twice, from the corner", ""}, is_image_twice},
      {{"of as many cells of a row as it has", ""}, has_cells_of_row},
      {{"of the grid's cells in their order, of which some are left out", ""}, rises_with_gaps},
      {{"whose last cell is as far from the first as if they followed each other", ""},
       [](const AskedRow& row) {
         return row.grid().is_known() && row.tokens() > 2 &&
                row.grid().number_of(row.places.back()) - row.grid().number_of(row.places.front()) == row.tokens() - 1;
       }},
      {{"about one row or one column", ""},
       [](const AskedRow& row) { return row.asked.axes == 2 && (is_constant(row, 0) || is_constant(row, 1)); }},
  };
  for (std::size_t axis = 0; axis < std::size(ordinals); ++axis) {
    const std::string which = ordinals[axis];
    const auto has = [axis](const AskedRow& row) {
      return row.has_axes() && row.asked.axes > static_cast<std::int64_t>(axis);
    };
    list.push_back({{"whose " + which + " coordinates are all 0", ""},
                    [=](const AskedRow& row) { return has(row) && is_zero(row, axis); }});
    list.push_back({{"whose " + which + " coordinates are all equal", ""},
                    [=](const AskedRow& row) { return has(row) && is_constant(row, axis); }});
    list.push_back({{"of the grid's number of cells whose " + which + " coordinates are those of its rows' order", ""},
                    [=](const AskedRow& row) { return has(row) && has_all_cells(row) && is_raster_on(row, axis); }});
  }
  return list;
}

std::vector<TraitOfRow> traits_beside_first_rows() {
  return {
      {{"rows of a batch with the positions of its first", "in rows with the positions of the first"},
       [](const AskedRow& row) {
         return is_first_rows(row, [](const auto& own, const auto& first) { return own == first; });
       }},
      {{"rows of a batch that begin and end where its first does", "in rows that begin and end where the first does"},
       [](const AskedRow& row) {
         return is_first_rows(row, [](const auto& own, const auto& first) {
           return own.front() == first.front() && own.back() == first.back();
         });
       }},
      {{"batches whose second row has the positions of the first",
        "in batches whose second row has the positions of the first"},
       [](const AskedRow& row) { return row.asked.batches > 1 && row.asked.row(0) == row.asked.row(1); }},
  };
}

std::vector<TraitOfRow> traits_of_rows() {
  std::vector<TraitOfRow> list;
  for (auto* make : {&traits_of_one_axis, &traits_of_grids}) {
    for (TraitOfRow& one : make()) {
      one.called.where = "in calls " + one.called.words;
      one.called.words = "calls " + one.called.words;
      list.push_back(std::move(one));
    }
  }
  for (TraitOfRow& one : traits_beside_first_rows()) list.push_back(std::move(one));
  return list;
}

const std::vector<TraitOfToken>& of_tokens() {
  static const std::vector<TraitOfToken> list = traits_of_tokens();
  return list;
}

const std::vector<TraitOfRow>& of_rows() {
  static const std::vector<TraitOfRow> list = traits_of_rows();
  return list;
}

}  // namespace

const std::vector<CallTrait>& call_traits() {
  static const std::vector<CallTrait> all = [] {
    std::vector<CallTrait> list;
    for (const TraitOfToken& one : of_tokens()) list.push_back(one.called);
    for (const TraitOfRow& one : of_rows()) list.push_back(one.called);
    return list;
  }();
  return all;
}

std::vector<Traits> traits_of(const AskedPlaces& asked, bool are_whole) {
  std::vector<Traits> list;
  for (std::int64_t batch = 0; batch < asked.batches; ++batch) {
    const AskedRow row{asked, batch, asked.row(batch), are_whole};
    Traits of_all = 0;
    for (std::size_t i = 0; i < of_rows().size(); ++i) {
      if (of_rows()[i].holds(row)) of_all |= Traits{1} << (of_tokens().size() + i);
    }
    for (std::size_t token = 0; token < row.places.size(); ++token) {
      Traits own = of_all;
      for (std::size_t i = 0; i < of_tokens().size(); ++i) {
        if (of_tokens()[i].holds(row, token)) own |= Traits{1} << i;
      }
      list.push_back(own);
    }
  }
  return list;
}

std::int64_t least_fall(const AskedPlaces& asked, std::int64_t batch) {
  if (asked.axes > 1 || asked.tokens < 2) return 0;
  std::int64_t least = asked.coordinate(0, batch, 0) - asked.coordinate(0, batch, 1);
  for (std::int64_t token = 2; token < asked.tokens; ++token)
    least = std::min(least, asked.coordinate(0, batch, token - 1) - asked.coordinate(0, batch, token));
  return std::max<std::int64_t>(least, 0);
}

std::int64_t rows_before_first_again(const AskedPlaces& asked, std::int64_t batch) {
  if (asked.axes < 2) return 0;
  const Place first = asked.at(batch, 0);
  for (std::int64_t token = 1; token < asked.tokens; ++token) {
    if (asked.at(batch, token) == first) return asked.coordinate(0, batch, token - 1) - first[0] + 1;
  }
  return 0;
}

}  // namespace sextant::identify
