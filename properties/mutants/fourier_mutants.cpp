// Over 400 lines: a flat list of variants of one plain implementation, each a few lines that are read alone.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_fourier.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"

// Fourier features that mistake a field of the claim: the unit of angles, which frequencies, which coordinates, where a
// channel lies, which matrix. Others are right, and compute as the codes in use do.

namespace sextant::mutants::fourier_mutants {
namespace {

// NeRF's released code: no pi, the coordinates first.
constexpr const char* nerf = R"({"encoding":"fourier","axes":3,"bands":10,"identity":"first",)"
                             R"("position_dtype":"float32","position_step":0.0009765625,"min_position":-4,)"
                             R"("max_position":4})";
// NeRF's paper, and tiny-cuda-nn's Frequency: with pi, without the coordinates, axis by axis.
constexpr const char* paper = R"({"encoding":"fourier","axes":3,"bands":8,"angle_unit":"half_turn",)"
                              R"("channel_order":"axis_frequency_function","position_dtype":"float32",)"
                              R"("position_step":0.000244140625,"min_position":-1,"max_position":1})";
// nerfstudio's vanilla NeRF, its positions: exponents that are no whole numbers.
constexpr const char* nerfstudio = R"({"encoding":"fourier","axes":3,"bands":10,"highest":8,"angle_unit":"turn",)"
                                   R"("channel_order":"function_axis_frequency","identity":"last",)"
                                   R"("position_dtype":"float32","position_step":0.000244140625,"max_position":2})";
// Perceiver's images.
constexpr const char* perceiver = R"({"encoding":"fourier","bands":8,"ladder":"linear","highest":12,)"
                                  R"("angle_unit":"half_turn","channel_order":"function_axis_frequency",)"
                                  R"("identity":"first","coordinates":"ends","extents":[32,24]})";
// Segment Anything's image embedding, on its side.
constexpr const char* sam = R"({"encoding":"fourier","bands":16,"ladder":"weight","coordinates":"centres",)"
                            R"("extents":[64,48]})";
// Cells in the row, at a width where a reciprocal's rounding is as large as ever.
constexpr const char* middles = R"({"encoding":"fourier","bands":4,"ladder":"linear","highest":4,)"
                                R"("angle_unit":"half_turn","identity":"last","coordinates":"centres",)"
                                R"("extents":[1001,999]})";
// Tancik et al.'s images.
constexpr const char* gaussian = R"({"encoding":"fourier","axes":2,"bands":16,"ladder":"weight","first":"cos",)"
                                 R"("identity":"last","position_dtype":"float32","position_step":0.000244140625,)"
                                 R"("max_position":2})";
// More bits in a position than float32 has, and angles formed in double.
constexpr const char* precise = R"({"encoding":"fourier","axes":2,"bands":4,"angle_unit":"turn","identity":"last",)"
                                R"("position_dtype":"float64","position_step":9.5367431640625e-07,)"
                                R"("max_position":4096,"accuracy":"exact-angle"})";

using Change = std::function<void(PlainFourier&)>;

struct List {
  std::vector<Mutant> entries;

  void add(Kind kind, std::string name, std::string row, std::string mechanism, std::string spec, Change change) {
    entries.push_back({"fourier-" + std::move(name), kind, std::move(row), std::move(mechanism), std::move(spec),
                       fourier_subject(std::move(change))});
  }
  void defect(std::string name, std::string row, std::string mechanism, std::string spec, Change change) {
    add(Kind::defect, std::move(name), std::move(row), std::move(mechanism), std::move(spec), std::move(change));
  }
  // The same features by another claim.
  void another(std::string name, std::string row, std::string mechanism, std::string spec, void (*change)(Fourier&)) {
    defect(std::move(name), std::move(row), std::move(mechanism), std::move(spec), [change](PlainFourier& plain) {
      Fourier encoding = plain.encoding;
      change(encoding);
      plain.claim(encoding);
    });
  }
  void control(
      std::string name, std::string mechanism, std::string spec, Change change = [](PlainFourier&) {}) {
    add(Kind::control, std::move(name), "", std::move(mechanism), std::move(spec), std::move(change));
  }
};

Tensor transposed(const Tensor& matrix) {
  Tensor other = matrix;
  const std::int64_t rows = matrix.shape[0];
  const std::int64_t columns = matrix.shape[1];
  for (std::int64_t i = 0; i < matrix.elements(); ++i) other.set(i, matrix.at(i % rows * columns + i / rows));
  return other;
}

Tensor rounded_in(Dtype dtype, const Tensor& matrix) {
  Tensor other = matrix;
  for (std::int64_t i = 0; i < matrix.elements(); ++i) other.set(i, round_to(dtype, matrix.at(i)));
  return other;
}

void defects_of_units(List& list) {
  list.another("pi-left-out", "N11", "angles without pi, as NeRF's released code has them, where pi was claimed", paper,
               [](Fourier& e) { e.angle_unit = AngleUnit::radian; });
  list.another("pi-added", "N11", "angles with pi, as NeRF's paper has them, where none was claimed", nerf,
               [](Fourier& e) { e.angle_unit = AngleUnit::half_turn; });
  list.another("two-pi-for-pi", "N11", "whole turns, where half turns were claimed", perceiver,
               [](Fourier& e) { e.angle_unit = AngleUnit::turn; });
  list.another("pi-for-two-pi", "N11", "half turns, where whole turns were claimed", nerfstudio,
               [](Fourier& e) { e.angle_unit = AngleUnit::half_turn; });
  list.another("weight-without-two-pi", "N11", "the matrix' products as radians", sam,
               [](Fourier& e) { e.angle_unit = AngleUnit::radian; });
  list.defect("pi-of-six-digits", "B", "3.14159 for pi", paper, [](PlainFourier& plain) { plain.unit = 3.14159; });
  list.defect("identity-scaled", "N11", "the coordinates in the row are those that pi has multiplied", perceiver,
              [](PlainFourier& plain) { plain.in_row = [](double c) { return in_float32(std::numbers::pi * c); }; });
}

void defects_of_rows(List& list) {
  list.another("identity-left-out", "N12", "the coordinates are not in the row, whose end is 0", nerf,
               [](Fourier& e) { e.identity = Identity::none; });
  list.another("identity-last", "N12", "the coordinates come last, where they were claimed to come first", nerf,
               [](Fourier& e) { e.identity = Identity::last; });
  list.another("identity-first", "N12", "the coordinates come first, where they were claimed to come last", nerfstudio,
               [](Fourier& e) { e.identity = Identity::first; });
  list.defect("identity-of-first-axis", "N8", "the first coordinate stands for all in the row", nerf,
              [](PlainFourier& plain) {
                plain.afterwards = [e = plain.encoding](Tensor& table, const std::vector<std::int64_t>&) {
                  for (std::int64_t row = 0; row < table.shape[0]; ++row) {
                    for (std::int64_t axis = 1; axis < e.axes; ++axis)
                      table.set(row * width(e) + axis, table.at(row * width(e)));
                  }
                };
              });
  list.another("cosines-first", "C11", "cosines come first, where sines were claimed to", perceiver,
               [](Fourier& e) { e.first = First::cos; });
  list.another("sines-first", "C11", "sines come first, where cosines were claimed to", gaussian,
               [](Fourier& e) { e.first = First::sin; });
  list.another("axis-major-for-frequencies", "N5,N12", "axis after axis, where frequency after frequency was claimed",
               nerf, [](Fourier& e) { e.channel_order = FourierOrder::axis_frequency_function; });
  list.another("blocks-for-frequencies", "N5,N12",
               "all sines, then all cosines, where frequency after frequency was "
               "claimed",
               nerf, [](Fourier& e) { e.channel_order = FourierOrder::function_axis_frequency; });
  list.another("frequency-major-for-axes", "N5,N12", "frequency after frequency, where axis after axis was claimed",
               paper, [](Fourier& e) { e.channel_order = FourierOrder::frequency_function_axis; });
  list.another("frequencies-before-axes", "N5,N12", "within sines and cosines, axes change fastest, not frequencies",
               nerfstudio, [](Fourier& e) { e.channel_order = FourierOrder::function_frequency_axis; });
  list.another("functions-by-axis", "N5,N12", "each axis' sines and cosines lie together, as a port has them",
               perceiver, [](Fourier& e) { e.channel_order = FourierOrder::axis_function_frequency; });
  list.another("weight-pairs-side-by-side", "K7,N12", "sine and cosine of a column lie side by side", sam,
               [](Fourier& e) { e.channel_order = FourierOrder::frequency_function; });
  list.defect("axes-reversed", "N1,N4", "the axes come in reverse", nerf, [](PlainFourier& plain) {
    plain.channels = [own = plain.channels](std::int64_t axis, std::int64_t band) { return own(2 - axis, band); };
    plain.identity = [own = plain.identity](std::int64_t axis) { return own(2 - axis); };
  });
}

void defects_of_frequencies(List& list) {
  list.another("exponents-from-one", "N13", "exponents begin with 1: 2, 4, 8, ...", nerf, [](Fourier& e) {
    ++e.lowest;
    ++e.highest;
  });
  list.another("end-excluded", "N13", "the highest exponent is left out of the linspace, whose steps are shorter",
               nerfstudio, [](Fourier& e) { e.highest -= (e.highest - e.lowest) / static_cast<double>(e.bands); });
  list.another("linear-end-excluded", "N13", "the highest frequency is left out of the linspace", perceiver,
               [](Fourier& e) { e.highest -= (e.highest - e.lowest) / static_cast<double>(e.bands); });
  list.another("whole-exponents", "N13", "exponents 0, 1, 2, ..., where eighths of ninths were claimed", nerfstudio,
               [](Fourier& e) { e.highest = e.lowest + static_cast<double>(e.bands - 1); });
  list.defect("exponents-rounded", "N13", "exponents are rounded to whole numbers", nerfstudio,
              [](PlainFourier& plain) {
                plain.frequency = [own = plain.frequency](std::int64_t band) {
                  return std::exp2(std::nearbyint(std::log2(own(band))));
                };
              });
  list.another("linear-for-powers", "N13", "frequencies themselves in equal steps, as log_sampling false has them",
               nerf, [](Fourier& e) {
                 e.ladder = FrequencyLadder::linear;
                 e.lowest = 1;
                 e.highest = 512;
               });
  list.another("powers-for-linear", "N13", "powers of two up to the highest frequency, where equal steps were claimed",
               perceiver, [](Fourier& e) {
                 e.ladder = FrequencyLadder::powers_of_two;
                 e.highest = std::log2(e.highest);
                 e.lowest = 0;
               });
  list.another("nyquist-twice", "N13", "frequencies up to the resolution, not to half of it", perceiver,
               [](Fourier& e) { e.highest *= 2; });
  list.defect("last-frequency-twice", "N13", "the highest frequency is the next to last one again", nerf,
              [](PlainFourier& plain) {
                plain.frequency = [own = plain.frequency](std::int64_t band) {
                  return own(std::min<std::int64_t>(band, 8));
                };
              });
  list.defect(
      "frequencies-in-bfloat16", "A5", "frequencies are rounded to bfloat16", nerfstudio, [](PlainFourier& plain) {
        plain.frequency = [own = plain.frequency](std::int64_t band) { return round_to(Dtype::bfloat16, own(band)); };
      });
  list.defect("frequencies-of-first-axis", "N8", "beyond the first axis each frequency is the next one's", paper,
              [](PlainFourier& plain) {
                plain.channels = [own = plain.channels](std::int64_t axis, std::int64_t band) {
                  return own(axis, axis == 0 ? band : (band + 1) % 8);
                };
              });
}

void defects_of_coordinates(List& list) {
  list.another("not-normalized", "N7", "positions as they are, where cells between -1 and 1 were claimed", sam,
               [](Fourier& e) {
                 e.coordinates = FourierCoordinates::index;
                 e.extents.clear();
               });
  list.defect("without-half", "K11", "a cell's corner, not its middle", sam, [](PlainFourier& plain) {
    plain.coordinate = [own = plain.coordinate](std::int64_t axis, double p) { return own(axis, p - 0.5); };
  });
  list.another("ends-for-centres", "K11,N12", "cells are divided by their number less 1", sam,
               [](Fourier& e) { e.coordinates = FourierCoordinates::ends; });
  list.another("centres-for-ends", "K11,N12", "the cells' middles, where their ends were claimed", perceiver,
               [](Fourier& e) { e.coordinates = FourierCoordinates::centres; });
  list.defect("from-zero-to-one", "N7", "coordinates between 0 and 1, not -1 and 1", sam, [](PlainFourier& plain) {
    plain.coordinate = [own = plain.coordinate](std::int64_t axis, double p) { return (own(axis, p) + 1) / 2; };
  });
  list.defect("extent-of-first-axis", "N1", "every axis is divided by the first one's cells", sam,
              [](PlainFourier& plain) {
                plain.coordinate = [own = plain.coordinate](std::int64_t, double p) { return own(0, p); };
              });
  list.another("extents-swapped", "N1,N4", "each axis is divided by the other's cells", perceiver,
               [](Fourier& e) { std::ranges::reverse(e.extents); });
  list.defect("positions-in-float16", "A1,A16", "positions are rounded to float16", nerf,
              [](PlainFourier& plain) { plain.position = [](double p) { return round_to(Dtype::float16, p); }; });
  list.defect("positions-in-bfloat16", "A1,A16", "positions are rounded to bfloat16", gaussian,
              [](PlainFourier& plain) { plain.position = [](double p) { return round_to(Dtype::bfloat16, p); }; });
  list.defect("positions-truncated", "A16", "positions become whole numbers on the way in", nerf,
              [](PlainFourier& plain) { plain.position = [](double p) { return std::trunc(p); }; });
  list.defect("positions-in-float32", "A16",
              "float64 positions are rounded to float32, though exact angles are claimed", precise,
              [](PlainFourier& plain) { plain.position = in_float32; });
  list.defect("angles-in-float32", "A", "angles are formed in float32, though exact ones are claimed", precise,
              [](PlainFourier& plain) {
                plain.sine = [](double a) { return std::sin(in_float32(a)); };
                plain.cosine = [](double a) { return std::cos(in_float32(a)); };
              });
  list.defect("angles-in-bfloat16", "A3", "the product is formed in bfloat16, as automatic mixed precision would", sam,
              [](PlainFourier& plain) {
                plain.sine = [](double a) { return std::sin(round_to(Dtype::bfloat16, a)); };
                plain.cosine = [](double a) { return std::cos(round_to(Dtype::bfloat16, a)); };
              });
}

void defects_of_matrices(List& list) {
  list.defect("matrix-transposed", "C8", "the matrix is read column by column", sam,
              [](PlainFourier& plain) { plain.matrix = transposed; });
  list.defect("matrix-in-bfloat16", "A5", "the matrix is kept in bfloat16", sam, [](PlainFourier& plain) {
    plain.matrix = [](const Tensor& weight) { return rounded_in(Dtype::bfloat16, weight); };
  });
  list.defect("matrix-in-float16", "A5", "the matrix is kept in float16", gaussian, [](PlainFourier& plain) {
    plain.matrix = [](const Tensor& weight) { return rounded_in(Dtype::float16, weight); };
  });
  list.defect("matrix-rows-swapped", "N1,N4", "rows of the matrix are those of the other axis", sam,
              [](PlainFourier& plain) {
                plain.matrix = [](const Tensor& weight) {
                  Tensor other = weight;
                  const std::int64_t half = weight.elements() / 2;
                  for (std::int64_t i = 0; i < weight.elements(); ++i)
                    other.set(i, weight.at((i + half) % weight.elements()));
                  return other;
                };
              });
  list.defect("matrix-of-first-call", "H1,P1", "the matrix of the first call is kept", sam, [](PlainFourier& plain) {
    plain.matrix = [kept = std::make_shared<std::optional<Tensor>>()](const Tensor& weight) {
      if (!*kept) *kept = weight;
      return **kept;
    };
  });
  list.defect("one-row-of-matrix", "N8", "the first row stands for all axes", sam, [](PlainFourier& plain) {
    plain.matrix = [](const Tensor& weight) {
      Tensor other = weight;
      for (std::int64_t i = 0; i < weight.elements(); ++i) other.set(i, weight.at(i % weight.shape[1]));
      return other;
    };
  });
}

void defects_of_calls(List& list) {
  list.defect("cache-by-shape", "P4", "a table is kept for each number of positions, whatever they are", nerf,
              [](PlainFourier& plain) {
                plain.afterwards = [kept = std::make_shared<std::map<std::size_t, Tensor>>()](
                                       Tensor& table, const std::vector<std::int64_t>& positions) {
                  table = kept->emplace(positions.size(), table).first->second;
                };
              });
  list.defect("long-calls-shifted", "", "from 1024 positions on every row is its neighbour's", perceiver,
              [](PlainFourier& plain) {
                plain.afterwards = [](Tensor& table, const std::vector<std::int64_t>&) {
                  if (table.shape[0] < 1024) return;
                  const std::int64_t columns = table.shape[1];
                  const Tensor right = table;
                  for (std::int64_t i = 0; i + columns < table.elements(); ++i) table.set(i, right.at(i + columns));
                };
              });
  list.defect("last-row-unwritten", "P1", "of calls whose positions eight does not divide the last row is 0",
              nerfstudio, [](PlainFourier& plain) {
                plain.afterwards = [](Tensor& table, const std::vector<std::int64_t>&) {
                  if (table.shape[0] % 8 == 0) return;
                  for (std::int64_t i = table.elements() - table.shape[1]; i < table.elements(); ++i) table.set(i, 0);
                };
              });
  list.defect("last-bands-unwritten", "P1", "of sines and cosines what lies beyond a multiple of eight is 0", nerf,
              [](PlainFourier& plain) {
                plain.afterwards = [](Tensor& table, const std::vector<std::int64_t>&) {
                  const std::int64_t columns = table.shape[1];
                  for (std::int64_t i = 0; i < table.elements(); ++i) {
                    if (i % columns >= columns / 8 * 8) table.set(i, 0);
                  }
                };
              });
}

void controls(List& list) {
  list.control("plain", "NeRF's released code in float32", nerf);
  list.control("paper", "NeRF's paper in float32", paper);
  list.control("exponents", "exponents of a linspace in float32", nerfstudio);
  list.control("linear", "Perceiver's, in float32", perceiver);
  list.control("cells", "Segment Anything's, in float32", sam);
  list.control("gaussian", "Tancik et al.'s, in float32, cosines first", gaussian);
  list.control("precise", "angles in double", precise);
  const auto quarter_ahead = [](PlainFourier& plain) {
    plain.unit_first = true;
    plain.cosine = [](double a) { return in_float32(std::sin(in_float32(a + in_float32(std::numbers::pi / 2)))); };
  };
  list.control("cosine-by-sine", "nerfstudio's cosine: the sine of the angle and pi/2, added in float32", nerfstudio,
               quarter_ahead);
  list.control("weight-cosine-by-sine", "the same of its random features, 2 pi multiplied into coordinates first",
               gaussian, quarter_ahead);
  list.control("linspace-from-both-ends", "a linspace that counts from the nearer end, as PyTorch's", nerfstudio,
               [](PlainFourier& plain) {
                 plain.frequency = [e = plain.encoding](std::int64_t band) {
                   const double step = in_float32((e.highest - e.lowest) / static_cast<double>(e.bands - 1));
                   const bool near_first = band < e.bands / 2;
                   const double part = in_float32(step * static_cast<double>(near_first ? band : e.bands - 1 - band));
                   const double at = in_float32(near_first ? e.lowest + part : e.highest - part);
                   return e.ladder == FrequencyLadder::linear ? at : in_float32(std::exp2(at));
                 };
               });
  list.control("exponential", "powers of two by the natural exponential, in float32", nerfstudio,
               [](PlainFourier& plain) {
                 if (plain.encoding.ladder != FrequencyLadder::powers_of_two) return;
                 plain.frequency = [own = plain.frequency](std::int64_t band) {
                   const double exponent = in_float32(std::log2(own(band)));
                   return in_float32(std::exp(in_float32(exponent * in_float32(std::numbers::ln2))));
                 };
               });
  list.control("linspace-of-ends", "Perceiver's coordinates as a linspace from -1 to 1, in float32", perceiver,
               [](PlainFourier& plain) {
                 if (plain.encoding.coordinates != FourierCoordinates::ends) return;
                 plain.coordinate = [e = plain.encoding](std::int64_t axis, double p) {
                   const auto last = static_cast<double>(e.extents[static_cast<std::size_t>(axis)] - 1);
                   const double step = in_float32(2 / last);
                   return p < (last + 1) / 2 ? in_float32(-1 + in_float32(step * p))
                                             : in_float32(1 - in_float32(step * (last - p)));
                 };
               });
  // A coordinate of e cells, from p.
  const auto cells_by = [&](const char* name, const char* mechanism, double (*coordinate)(double e, double p)) {
    list.control(name, mechanism, middles, [coordinate](PlainFourier& plain) {
      if (plain.encoding.coordinates != FourierCoordinates::centres) return;
      plain.coordinate = [e = plain.encoding, coordinate](std::int64_t axis, double p) {
        return coordinate(static_cast<double>(e.extents[static_cast<std::size_t>(axis)]), p);
      };
    });
  };
  cells_by("cells-by-reciprocal", "middles of cells times the reciprocal of their number, in float32",
           [](double e, double p) { return in_float32(in_float32((p + 0.5) * in_float32(2 / e)) - 1); });
  cells_by("cells-from-first", "the first cell's middle and steps from there, in float32", [](double e, double p) {
    return in_float32(in_float32(in_float32(1 / e) - 1) + in_float32(p * in_float32(2 / e)));
  });
  cells_by("cells-linspace", "a linspace between the middles of the first and the last cell, in float32",
           [](double e, double p) {
             if (e == 1) return 0.0;
             const double last = in_float32(1 - in_float32(1 / e));
             const double step = in_float32(2 * last / (e - 1));
             return p < e / 2 ? in_float32(in_float32(p * step) - last)
                              : in_float32(last - in_float32((e - 1 - p) * step));
           });
  list.control("pi-in-matrix", "2 pi is multiplied into the matrix, in float32", sam, [](PlainFourier& plain) {
    plain.matrix = [unit = in_float32(plain.unit)](const Tensor& weight) {
      Tensor other = weight;
      for (std::int64_t i = 0; i < weight.elements(); ++i) other.set(i, unit * weight.at(i));
      return other;
    };
    plain.unit = 1;
  });
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  defects_of_units(list);
  defects_of_rows(list);
  defects_of_frequencies(list);
  defects_of_coordinates(list);
  defects_of_matrices(list);
  defects_of_calls(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::fourier_mutants
