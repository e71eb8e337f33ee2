#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"

// Sinusoidal codes of several coordinates that mistake a field of the claim: which channels an axis has, which
// frequencies, what its positions are divided by.

namespace sextant::mutants::places_mutants {
namespace {

// diffusers' films: a quarter of the channels for time, the rest for columns and rows, which are three eighths each.
constexpr const char* film = R"({"encoding":"sinusoidal_nd","dim":64,"extents":[5,9,14],"channels":[16,24,24],)"
                             R"("axis_order":[0,2,1],"layout":"concatenated","scales":[1,1.875,1.875]})";
// LoFTR's: columns, then rows, by turns, counted from 1.
constexpr const char* by_turns = R"({"encoding":"sinusoidal_nd","dim":32,"extents":[11,17],"axis_order":[1,0],)"
                                 R"("channel_order":"alternating","position_offset":1})";
// DETR's: rows, then columns, divided by the last.
constexpr const char* normalized = R"({"encoding":"sinusoidal_nd","dim":32,"extents":[11,17],"position_offset":1,)"
                                   R"("coordinates":"normalized","epsilon":1e-6})";
constexpr const char* normalized_exactly =
    R"({"encoding":"sinusoidal_nd","dim":32,"extents":[3,4],"position_offset":1,"coordinates":"normalized",)"
    R"("epsilon":1e-6,"accuracy":"exact-angle"})";
// positional-encodings' volumes, whose last axis is cut.
constexpr const char* cut = R"({"encoding":"sinusoidal_nd","dim":32,"extents":[5,6,7]})";
constexpr const char* padded =
    R"({"encoding":"sinusoidal_nd","dim":32,"extents":[5,6,7],"channels":[10,10,10],"layout":"concatenated"})";
constexpr const char* unusual = R"({"encoding":"sinusoidal_nd","dim":32,"extents":[9,14],"base":300,"first":"cos",)"
                                R"("denominator":"half_minus_one"})";

// As it is commonly written, in float32: a step a member. As made it is right within float32-angle.
struct PlainPlaces {
  PlainPlaces(const SinusoidalNd& claimed, Dtype of_values, bool in_double) : dtype(of_values) {
    claim(claimed);
    if (in_double) {
      rounded = [](double value) { return value; };
    } else {
      rounded = in_float32;
    }
  }

  // From now on everything is as this claim has it, but for the width of a row.
  void claim(const SinusoidalNd& claimed) {
    const std::int64_t width = encoding.dim == 0 ? claimed.dim : encoding.dim;
    encoding = claimed;
    encoding.dim = width;
    divisor = [e = claimed](std::int64_t axis) {
      const CountUnit unit = unit_of_axis(e, axis);
      return unit.whole + unit.part;
    };
    turns = claimed.coordinates == Coordinates::normalized ? 2 * std::numbers::pi : 1;
    exponent = [e = claimed](std::int64_t axis, std::int64_t pair) {
      const auto half = static_cast<double>(pairs(e, axis));
      return static_cast<double>(pair) / (e.denominator == Denominator::dim ? half : half - 1);
    };
    frequency = [base = claimed.base](double power) { return std::pow(base, -power); };
    rest = [](const Tensor&, std::int64_t) { return 0.0; };
  }

  double angle(std::int64_t axis, std::int64_t pair, std::int64_t position) const {
    const double count = rounded(static_cast<double>(position + encoding.position_offset));
    const double own = divisor(axis);
    const double coordinate = rounded((own == 1 ? count : rounded(count / rounded(own))) * rounded(turns));
    return rounded(coordinate * rounded(frequency(exponent(axis, pair))));
  }

  Tensor encode(const std::vector<std::int64_t>& positions) const {
    const std::int64_t count = std::ssize(positions) / axes(encoding);
    Tensor table = Tensor::zeros(dtype, {count, encoding.dim});
    for (std::int64_t row = 0; row < count; ++row) {
      const auto put = [&](std::int64_t channel, double value) {
        if (channel < encoding.dim) table.set(row * encoding.dim + channel, value);
      };
      for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
        const std::int64_t position = positions[static_cast<std::size_t>(axis * count + row)];
        for (std::int64_t pair = 0; pair < pairs(encoding, axis); ++pair) {
          const Channels at = channels_of_pair(encoding, axis, pair);
          const double a = angle(axis, pair, position);
          put(at.first, rounded(std::sin(a)));
          put(at.second, rounded(std::cos(a)));
        }
      }
      for (std::int64_t channel = filled_channels(encoding); channel < encoding.dim; ++channel)
        put(channel, rest(table, row * encoding.dim + channel));
    }
    return table;
  }

  SinusoidalNd encoding;
  Dtype dtype;
  std::function<double(double value)> rounded;
  std::function<double(std::int64_t axis)> divisor;  ///< of p + offset
  double turns = 1;                                  ///< what that is multiplied by
  std::function<double(std::int64_t axis, std::int64_t pair)> exponent;
  std::function<double(double power)> frequency;
  std::function<double(const Tensor& table, std::int64_t element)> rest;  ///< beyond the axes' channels
};

using Change = std::function<void(PlainPlaces&)>;

FunctionSubject::Make plain_places(Change change) {
  return [change = std::move(change)](const Spec& spec) -> FunctionSubject::Call {
    const auto* encoding = held<SinusoidalNd>(spec);
    if (encoding == nullptr) throw SubjectFailure(FailureKind::error, "no code of several coordinates");
    const bool in_double = spec.dtype == Dtype::float64 || spec.accuracy == AccuracyClass::exact_angle;
    PlainPlaces plain(*encoding, spec.dtype, in_double);
    change(plain);
    return [plain](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (operation != "encode") throw SubjectFailure(FailureKind::unsupported, "encode only");
      return {{"encoding", plain.encode(inputs.at("positions").integers())}};
    };
  };
}

using Places = std::vector<std::vector<std::int64_t>>;

Places places_of(const std::vector<std::int64_t>& positions, std::int64_t cells) {
  Places places;
  for (auto at = positions.begin(); at != positions.end(); at += cells) places.emplace_back(at, at + cells);
  return places;
}

// Rows and columns from 0 on in their order, on the last two axes; where that is so, how many of each.
std::optional<std::pair<std::int64_t, std::int64_t>> raster(const Places& places) {
  const std::vector<std::int64_t>& rows = places[places.size() - 2];
  const std::vector<std::int64_t>& columns = places.back();
  const std::int64_t width = std::ranges::max(columns) + 1;
  const std::int64_t height = std::ranges::max(rows) + 1;
  if (width * height != std::ssize(rows)) return std::nullopt;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto cell = static_cast<std::int64_t>(i);
    if (rows[i] != cell / width || columns[i] != cell % width) return std::nullopt;
  }
  return std::pair{height, width};
}

struct List {
  std::vector<Mutant> entries;

  void add(Kind kind, std::string name, std::string row, std::string mechanism, std::string spec, Change change) {
    entries.push_back({std::move(name), kind, std::move(row), std::move(mechanism), std::move(spec),
                       plain_places(std::move(change))});
  }
  void defect(std::string name, std::string row, std::string mechanism, std::string spec, Change change) {
    add(Kind::defect, std::move(name), std::move(row), std::move(mechanism), std::move(spec), std::move(change));
  }
  // The same encoding by another claim.
  void another(std::string name, std::string row, std::string mechanism, std::string spec,
               void (*change)(SinusoidalNd&)) {
    defect(std::move(name), std::move(row), std::move(mechanism), std::move(spec), [change](PlainPlaces& plain) {
      SinusoidalNd encoding = plain.encoding;
      change(encoding);
      plain.claim(encoding);
    });
  }
  // Nothing is written in calls whose coordinates [axes][cells] are such.
  void in_calls(std::string name, std::string mechanism, std::string spec,
                const std::function<bool(const Places& places, const SinusoidalNd& encoding)>& is_wrong) {
    entries.push_back({std::move(name), Kind::defect, "", std::move(mechanism), std::move(spec),
                       [make = plain_places([](PlainPlaces&) {}), is_wrong](const Spec& of) -> FunctionSubject::Call {
                         return [plain = make(of), encoding = *held<SinusoidalNd>(of), is_wrong](
                                    std::string_view operation, const Tensors& inputs) {
                           Tensors answers = plain(operation, inputs);
                           Tensor& codes = answers.at("encoding");
                           if (codes.shape[0] > 0 &&
                               is_wrong(places_of(inputs.at("positions").integers(), codes.shape[0]), encoding))
                             codes = Tensor::zeros(codes.dtype, codes.shape);
                           return answers;
                         };
                       }});
  }
  void control(std::string name, std::string mechanism, std::string spec) {
    add(Kind::control, std::move(name), "", std::move(mechanism), std::move(spec), [](PlainPlaces&) {});
  }
};

void defects(List& list) {
  list.another("places-rows-first", "N1,N4,K13", "rows come before columns, where columns were claimed to", film,
               [](SinusoidalNd& e) { e.axis_order.clear(); });
  list.another("places-time-last", "N4", "time comes behind the two axes of a frame", film, [](SinusoidalNd& e) {
    e.axis_order = {2, 1, 0};
  });
  list.another("places-equal-shares", "N9", "every axis has as many channels, where time was to have a quarter", film,
               [](SinusoidalNd& e) {
                 e.channels = {22, 22, 22};
               });
  list.another("places-scales-ignored", "N7", "coordinates are not divided by their scale", film,
               [](SinusoidalNd& e) { e.scales.clear(); });
  list.defect(
      "places-scales-multiply", "N7", "coordinates are multiplied by their scale", film,
      [](PlainPlaces& plain) { plain.divisor = [own = plain.divisor](std::int64_t axis) { return 1 / own(axis); }; });
  list.another("places-time-scaled", "N7", "the scale of rows and columns is that of time too", film,
               [](SinusoidalNd& e) { std::ranges::fill(e.scales, e.scales.empty() ? 1 : e.scales.back()); });
  list.another("places-pairs-side-by-side", "K7", "sines and cosines alternate, where they were claimed in two parts",
               film, [](SinusoidalNd& e) { e.layout = Layout::interleaved; });
  list.defect("places-exponent-of-the-row", "D4", "the exponent is divided by the row's width, not by the axis' own",
              film, [](PlainPlaces& plain) {
                plain.exponent = [width = static_cast<double>(plain.encoding.dim)](std::int64_t, std::int64_t pair) {
                  return 2 * static_cast<double>(pair) / width;
                };
              });
  list.another("places-blocks-for-turns", "N5,N6", "axes in blocks, where they were claimed to alternate", by_turns,
               [](SinusoidalNd& e) { e.channel_order = ChannelOrder::blocked; });
  list.another("places-rows-before-columns", "N1,N4", "each row's pair comes before the column's", by_turns,
               [](SinusoidalNd& e) { e.axis_order.clear(); });
  list.another("places-from-zero", "K11", "positions begin at 0, where they were claimed to begin at 1", by_turns,
               [](SinusoidalNd& e) { e.position_offset = 0; });
  list.another("places-offset-twice", "K11", "the offset is added twice", by_turns,
               [](SinusoidalNd& e) { e.position_offset *= 2; });
  list.defect("places-floored-exponent", "K5", "operator precedence floors the exponent's coefficient to -1", by_turns,
              [](PlainPlaces& plain) {
                plain.frequency = [](double power) { return power == 0 ? 1 : std::exp(-std::ceil(power * 16)); };
              });
  list.another("places-not-normalized", "N7", "positions as they are, where a whole turn was claimed", normalized,
               [](SinusoidalNd& e) {
                 e.coordinates = Coordinates::index;
                 e.epsilon = 0;
               });
  list.defect("places-without-turn", "N7", "coordinates run up to 1, not to 2 pi", normalized,
              [](PlainPlaces& plain) { plain.turns = 1; });
  list.defect("places-square", "N1", "both axes are divided by the last row", normalized,
              [](PlainPlaces& plain) { plain.divisor = [own = plain.divisor](std::int64_t) { return own(0); }; });
  list.defect(
      "places-divided-by-count", "K11", "coordinates are divided by the number of positions + 1", normalized,
      [](PlainPlaces& plain) { plain.divisor = [own = plain.divisor](std::int64_t axis) { return own(axis) + 1; }; });
  list.another("places-without-epsilon", "", "what keeps the divisor from 0 is left out", normalized_exactly,
               [](SinusoidalNd& e) { e.epsilon = 0; });
  list.another("places-cut-evenly", "K1", "each axis has fewer channels, so that nothing is cut off", cut,
               [](SinusoidalNd& e) {
                 e.channels = {10, 10, 12};
               });
  list.defect("places-repeated-rest", "K1", "what lies beyond the axes repeats the row's beginning", padded,
              [](PlainPlaces& plain) {
                plain.rest = [](const Tensor& table, std::int64_t element) { return table.at(element - 30); };
              });
  list.another("places-base-ignored", "D1,D2", "the base is 10000, whatever was claimed", unusual,
               [](SinusoidalNd& e) { e.base = 10000; });
  list.another("places-sine-first", "", "the sine comes first, where the cosine was claimed to", unusual,
               [](SinusoidalNd& e) { e.first = First::sin; });
  list.another("places-denominator-ignored", "K7", "the exponent is divided by the number of pairs, not by one less",
               unusual, [](SinusoidalNd& e) { e.denominator = Denominator::dim; });
}

// Grids that are not the claim's own.
void defects_of_calls(List& list) {
  constexpr const char* grid = R"({"encoding":"sinusoidal_nd","dim":16,"extents":[48,64]})";
  list.in_calls("places-smaller-grid-zero", "of a grid smaller than the largest nothing is written", grid,
                [](const Places& places, const SinusoidalNd& e) {
                  const auto sides = raster(places);
                  return sides && sides->first > 1 && sides->second > 1 &&
                         (sides->first != e.extents[0] || sides->second != e.extents[1]);
                });
  list.in_calls("places-portrait-zero", "of a grid of more rows than columns nothing is written", grid,
                [](const Places& places, const SinusoidalNd&) {
                  const auto sides = raster(places);
                  return sides && sides->second > 1 && sides->first > sides->second;
                });
  list.in_calls("places-columns-first-zero", "of a grid column after column nothing is written", grid,
                [](const Places& places, const SinusoidalNd&) {
                  const auto sides = raster({places[1], places[0]});
                  return sides && sides->first > 1 && sides->second > 1;
                });
  list.in_calls("places-two-grids-zero", "of two grids in one call nothing is written", grid,
                [](const Places& places, const SinusoidalNd&) {
                  const auto half = static_cast<std::ptrdiff_t>(places[0].size() / 2);
                  if (half < 4 || places[0].size() % 2 != 0) return false;
                  Places first;
                  for (const auto& axis : places) {
                    if (!std::equal(axis.begin(), axis.begin() + half, axis.begin() + half)) return false;
                    first.emplace_back(axis.begin(), axis.begin() + half);
                  }
                  const auto sides = raster(first);
                  return sides && sides->first > 1 && sides->second > 1;
                });
  list.in_calls("places-long-call-zero", "of more than 8193 cells nothing is written", grid,
                [](const Places& places, const SinusoidalNd&) { return places[0].size() > 8193; });
  list.in_calls("places-fewer-frames-zero", "of a film of fewer frames than the longest nothing is written",
                R"({"encoding":"sinusoidal_nd","dim":18,"extents":[13,9,14]})",
                [](const Places& places, const SinusoidalNd& e) {
                  const std::int64_t cells = e.extents[1] * e.extents[2];
                  const auto tokens = std::ssize(places[0]);
                  if (tokens <= cells || tokens % cells != 0 || tokens == cells * e.extents[0]) return false;
                  for (std::size_t i = 0; i < places[0].size(); ++i)
                    if (places[0][i] != static_cast<std::int64_t>(i) / cells) return false;
                  return true;
                });
  list.in_calls("places-masked-zero", "of cells in their order, of which some are left out, nothing is written", grid,
                [](const Places& places, const SinusoidalNd& e) {
                  std::int64_t before = -1;
                  bool has_gap = false;
                  for (std::size_t i = 0; i < places[0].size(); ++i) {
                    const std::int64_t cell = places[0][i] * e.extents[1] + places[1][i];
                    if (cell <= before) return false;
                    has_gap = has_gap || cell > before + 1;
                    before = cell;
                  }
                  return has_gap && places[0].size() > 8 && places[0].front() != places[0].back();
                });
}

void controls(List& list) {
  list.control("places-film", "columns before rows, in parts of different width, on coordinates that are divided",
               film);
  list.control("places-by-turns", "pairs of columns and rows by turns, counted from 1", by_turns);
  list.control("places-normalized", "a whole turn, but for an epsilon", normalized);
  list.control("places-normalized-exactly", "the same in double", normalized_exactly);
  list.control("places-cut", "a last axis that has fewer channels than it was made with", cut);
  list.control("places-padded", "zeros beyond the axes", padded);
  list.control("places-unusual", "cosines first, another divisor, another base", unusual);
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  defects(list);
  defects_of_calls(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::places_mutants
