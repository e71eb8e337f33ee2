#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "properties/mutants/local_fault.hpp"
#include "properties/mutants/plain_fourier.hpp"

// Codes and rotations by several axes that take a call for another one: for the raster of the claim's grid, of which
// they keep a table, by what only some of its coordinates say; for one grid where there are several; for the whole
// where it is a part. Others are wrong at lengths, or where all coordinates but one are 0.

namespace sextant::mutants::cells_mutants {
namespace {

constexpr std::int64_t height = 12;
constexpr std::int64_t width = 17;

using Axis = std::vector<std::int64_t>;
using Places = std::vector<Axis>;  // [axis][token], of one batch row

bool is_whole(const Places& places) { return std::ssize(places[0]) == height * width; }

Places raster(std::int64_t tokens, std::int64_t first = 0) {
  Places places(2);
  for (std::int64_t cell = first; cell < first + tokens; ++cell) {
    places[0].push_back(cell / width % height);
    places[1].push_back(cell % width);
  }
  return places;
}

std::int64_t cell_at(const Places& places, std::size_t token) { return places[0][token] * width + places[1][token]; }

// What a batch row is taken for.
using Mistaken = std::function<void(Places& places)>;

Mistaken whole_if(std::function<bool(const Places& places)> seems_whole) {
  return [seems_whole = std::move(seems_whole)](Places& places) {
    if (is_whole(places) && seems_whole(places)) places = raster(height * width);
  };
}

bool has_ends_of_whole(const Places& places) {
  return cell_at(places, 0) == 0 && cell_at(places, places[0].size() - 1) == height * width - 1;
}

// In the order where the first axis changes fastest.
void columns_as_rows(Places& places) {
  const auto cells = raster(height * width);
  for (std::size_t i = 0; is_whole(places) && i < places[0].size(); ++i) {
    const auto cell = static_cast<std::int64_t>(i);
    if (places[0][i] != cell % height || places[1][i] != cell / height) return;
  }
  if (is_whole(places)) places = cells;
}

void snake_as_rows(Places& places) {
  for (std::size_t i = 0; is_whole(places) && i < places[0].size(); ++i) {
    const auto cell = static_cast<std::int64_t>(i);
    const std::int64_t column = cell / width % 2 == 0 ? cell % width : width - 1 - cell % width;
    if (places[0][i] != cell / width || places[1][i] != column) return;
  }
  if (is_whole(places)) places = raster(height * width);
}

void consecutive_by_ends(Places& places) {
  const std::int64_t tokens = std::ssize(places[0]);
  const std::int64_t first = cell_at(places, 0);
  if (tokens > 2 && cell_at(places, places[0].size() - 1) - first == tokens - 1) places = raster(tokens, first);
}

// A grid in one call is taken to go on where another one begins again at its first cell.
void second_image_goes_on(Places& places) {
  for (std::size_t token = 4; token < places[0].size(); ++token) {
    const bool is_first_again = places[0][token] == places[0][0] && places[1][token] == places[1][0] &&
                                places[0][token - 1] == places[0][0] + 2;
    if (!is_first_again) continue;
    for (std::size_t later = token; later < places[0].size(); ++later)
      places[0][later] = (places[0][later] + 3) % height;
    return;
  }
}

// Rows of equal length, one after the other, that begin elsewhere.
void crop_from_zero(Places& places) {
  const auto tokens = std::ssize(places[0]);
  const auto across = static_cast<std::int64_t>(std::ranges::count(places[0], places[0][0]));
  if (across < 2 || tokens % across != 0 || tokens == across || across == width) return;
  const std::int64_t row = places[0][0];
  const std::int64_t column = places[1][0];
  for (std::size_t i = 0; i < places[0].size(); ++i) {
    const auto cell = static_cast<std::int64_t>(i);
    if (places[0][i] != row + cell / across || places[1][i] != column + cell % across) return;
  }
  for (std::int64_t& coordinate : places[0]) coordinate -= row;
  for (std::int64_t& coordinate : places[1]) coordinate -= column;
}

// A row, or a column, of the grid is taken for the first one.
void lines_from_zero(Places& places) {
  for (Axis& axis : places) {
    if (axis.size() > 4 && std::ranges::count(axis, axis[0]) == std::ssize(axis)) std::ranges::fill(axis, 0);
  }
}

void class_token_as_cell(Places& places) {
  if (std::ssize(places[0]) != height * width + 1 || cell_at(places, 0) != 0 || cell_at(places, 1) != 0) return;
  for (std::size_t i = 1; i < places[0].size(); ++i)
    if (cell_at(places, i) != static_cast<std::int64_t>(i) - 1) return;
  for (Axis& axis : places) std::rotate(axis.begin(), axis.begin() + 1, axis.end());
}

void swapped_on_first_row(Places& places) {
  if (std::ranges::all_of(places[0], [](std::int64_t row) { return row == 0; })) std::swap(places[0], places[1]);
}
void swapped_on_first_column(Places& places) {
  if (std::ranges::all_of(places[1], [](std::int64_t column) { return column == 0; })) std::swap(places[0], places[1]);
}
void swapped_where_one_is_zero(Places& places) {
  for (std::size_t i = 0; i < places[0].size(); ++i)
    if (places[0][i] == 0) std::swap(places[0][i], places[1][i]);
}

// A table of cells is kept by where its first two and last two lie, and their number.
struct TwoEnds {
  std::map<Axis, Places> kept = {};

  void operator()(Places& places) {
    Axis key{std::ssize(places[0])};
    for (const Axis& axis : places) {
      for (const std::size_t i : {std::size_t{0}, std::size_t{1}, axis.size() - 2, axis.size() - 1})
        key.push_back(axis[std::min(i, axis.size() - 1)]);
    }
    places = kept.try_emplace(std::move(key), places).first->second;
  }
};

// The same by all that there is: right.
struct WholeKey {
  std::map<Places, Places> kept = {};

  void operator()(Places& places) { places = kept.try_emplace(places, places).first->second; }
};

// Answers what another place has; `mistake()` makes what a session keeps.
FunctionSubject::Make mistaking(FunctionSubject::Make make, std::function<Mistaken()> mistake) {
  return [make = std::move(make), mistake = std::move(mistake)](const Spec& spec) -> FunctionSubject::Call {
    return [honest = make(spec), taken = mistake()](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (!inputs.contains("positions")) return honest(operation, inputs);
      const Tensor& given = inputs.at("positions");
      if (given.dtype != Dtype::int64 || given.shape[0] != 2 || given.elements() == 0) return honest(operation, inputs);
      std::vector<std::int64_t> list = given.integers();
      const std::int64_t tokens = given.shape.back();
      const std::int64_t rows = std::ssize(list) / 2 / tokens;
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto first = list.begin() + row * tokens;
        const auto second = first + rows * tokens;
        Places places{{first, first + tokens}, {second, second + tokens}};
        taken(places);
        std::ranges::copy(places[0], first);
        std::ranges::copy(places[1], second);
      }
      Tensors changed = inputs;
      changed.at("positions") = Tensor::of_integers(given.shape, list);
      return honest(operation, changed);
    };
  };
}

// Writes nothing to the last of so many tokens, or to all.
enum class Unwritten { last_token, all };
FunctionSubject::Make unwritten(FunctionSubject::Make make, std::function<bool(std::int64_t tokens)> when,
                                Unwritten which) {
  return [make = std::move(make), when = std::move(when), which](const Spec& spec) -> FunctionSubject::Call {
    return [honest = make(spec), when, which](std::string_view operation, const Tensors& inputs) -> Tensors {
      Tensors reply = honest(operation, inputs);
      if (!inputs.contains("positions")) return reply;
      const std::int64_t tokens = inputs.at("positions").shape.back();
      Tensor& answer = reply.begin()->second;
      if (tokens == 0 || answer.elements() == 0 || !when(tokens)) return reply;
      const std::int64_t values = answer.elements() / tokens;
      const std::int64_t first = which == Unwritten::all ? 0 : answer.elements() - values;
      for (std::int64_t i = first; i < answer.elements(); ++i) answer.set(i, 0);
      return reply;
    };
  };
}

// Writes nothing to a call that follows one of no tokens.
FunctionSubject::Make after_empty(FunctionSubject::Make make) {
  return [make = std::move(make)](const Spec& spec) -> FunctionSubject::Call {
    return [honest = make(spec), was_empty = false](std::string_view operation, const Tensors& inputs) mutable {
      Tensors reply = honest(operation, inputs);
      if (!inputs.contains("positions")) return reply;
      Tensor& answer = reply.begin()->second;
      const bool is_empty = answer.elements() == 0;
      if (std::exchange(was_empty, is_empty) && !is_empty) answer = Tensor::zeros(answer.dtype, answer.shape);
      return reply;
    };
  };
}

struct Subject {
  const char* name;
  std::string spec;
  FunctionSubject::Make make;
};

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  const std::vector<Subject> subjects{
      {"grid", fmt::format(R"({{"encoding":"sinusoidal_2d","dim":16,"height":{},"width":{}}})", height, width),
       plain_call},
      {"fourier-grid",
       fmt::format(
           R"({{"encoding":"fourier","axes":2,"bands":4,"ladder":"linear","highest":4,"angle_unit":"half_turn",)"
           R"("channel_order":"function_axis_frequency","coordinates":"centres","extents":[{},{}]}})",
           height, width),
       fourier_subject([](PlainFourier&) {})},
      {"rope-grid",
       fmt::format(R"({{"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",)"
                   R"("rope_theta":100,"coordinates":"normalized","extents":[{},{}]}})",
                   height, width),
       plain_call}};
  struct Defect {
    const char* name;
    const char* mechanism;
    Mistaken mistake;
  };
  const auto raster_coordinate = [](std::size_t axis) {
    return [axis](const Places& places) { return places[axis] == raster(height * width)[axis]; };
  };
  const std::vector<Defect> defects{
      {"raster-by-count", "as many tokens as the grid has cells are taken for its raster",
       whole_if([](const Places&) { return true; })},
      {"raster-by-ends", "the same where the first and the last one are the raster's", whole_if(has_ends_of_whole)},
      {"raster-by-rows", "the same where all rows are the raster's", whole_if(raster_coordinate(0))},
      {"raster-by-columns", "the same where all columns are the raster's", whole_if(raster_coordinate(1))},
      {"columns-as-rows", "column after column is answered as row after row", columns_as_rows},
      {"snake-as-rows", "rows that alternate in direction are answered as if they did not", snake_as_rows},
      {"consecutive-by-ends", "cells are taken to follow each other where the last is as far from the first",
       consecutive_by_ends},
      {"second-image-goes-on", "a second grid of a call is taken to go on below the first", second_image_goes_on},
      {"crop-from-zero", "a crop is answered as one of the same size at the grid's corner", crop_from_zero},
      {"line-from-zero", "a row or a column is answered as the first one", lines_from_zero},
      {"class-token-as-cell", "a token before the raster is answered as one behind it", class_token_as_cell},
      {"swapped-on-first-row", "axes change places in calls about the first row", swapped_on_first_row},
      {"swapped-on-first-column", "axes change places in calls about the first column", swapped_on_first_column},
      {"swapped-at-zero", "axes change places where the first coordinate is 0", swapped_where_one_is_zero}};
  for (const Subject& subject : subjects) {
    const auto add = [&](Kind kind, const char* name, const char* mechanism, FunctionSubject::Make make) {
      list.add(kind, fmt::format("{}-{}", subject.name, name), mechanism, subject.spec, std::move(make));
    };
    for (const Defect& defect : defects) {
      add(Kind::defect, defect.name, defect.mechanism,
          mistaking(subject.make, [mistake = defect.mistake] { return mistake; }));
    }
    add(Kind::defect, "kept-by-two-ends", "tables are kept by the first two and last two cells, and their number",
        mistaking(subject.make, [] { return Mistaken(TwoEnds()); }));
    add(Kind::defect, "after-empty", "a call that follows one of no tokens is not written", after_empty(subject.make));
    for (const std::int64_t tokens : {33, 36, 64, 255, 513, 1023, 2049}) {
      add(Kind::defect, fmt::format("last-of-{}", tokens).c_str(), "the last of so many tokens is not written",
          unwritten(
              subject.make, [tokens](std::int64_t asked) { return asked == tokens; }, Unwritten::last_token));
    }
    for (const std::int64_t most : {4700, 8193}) {
      add(Kind::defect, fmt::format("beyond-{}", most).c_str(), "calls of more tokens are not written",
          unwritten(
              subject.make, [most](std::int64_t asked) { return asked > most; }, Unwritten::all));
    }
    add(Kind::control, "raster-by-all", "the raster is told by every coordinate", mistaking(subject.make, [] {
          return whole_if([](const Places& at) { return at == raster(height * width); });
        }));
    add(Kind::control, "kept-by-all", "tables are kept by all their cells",
        mistaking(subject.make, [] { return Mistaken(WholeKey()); }));
  }
  list.add(Kind::defect, "attention-rope-grid-kept-by-two-ends",
           "factors are kept by the number of tokens and the ends of their rows",
           R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":64,"position":{"encoding":"rope_nd",)"
           R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis"}})",
           mistaking(plain_call, [] { return Mistaken(TwoEnds()); }));
  list.add(Kind::defect, "log-coordinates-columns-as-rows", "column after column is answered as row after row",
           R"({"encoding":"log_coordinates","window":[8,12],"min_position":-11,"max_position":12})",
           mistaking(plain_call, [] {
             return Mistaken([](Places& places) {
               constexpr std::int64_t rows = 15;
               constexpr std::int64_t columns = 23;
               if (std::ssize(places[0]) != rows * columns) return;
               for (std::size_t i = 0; i < places[0].size(); ++i) {
                 const auto cell = static_cast<std::int64_t>(i);
                 if (places[0][i] != cell % rows - 7 || places[1][i] != cell / rows - 11) return;
               }
               for (std::size_t i = 0; i < places[0].size(); ++i) {
                 const auto cell = static_cast<std::int64_t>(i);
                 places[0][i] = cell / columns - 7;
                 places[1][i] = cell % columns - 11;
               }
             });
           }));
  return std::move(list.entries);
}

}  // namespace sextant::mutants::cells_mutants
