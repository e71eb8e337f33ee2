#pragma once

#include <string>
#include <variant>
#include <vector>

#include "lib/spec/spec.hpp"

// For the tests of sinusoidal_nd: an encoding of each kind, and all places of its grid.

namespace sextant {

struct NamedPlaces {
  std::string name;
  std::string json;

  SinusoidalNd encoding() const { return std::get<SinusoidalNd>(parse_spec(json).encoding); }
};

inline std::vector<NamedPlaces> every_kind_of_places() {
  return {
      {"film", R"({"encoding":"sinusoidal_nd","dim":64,"extents":[5,9,14],"channels":[16,24,24],"axis_order":[0,2,1],)"
               R"("layout":"concatenated","scales":[1,1.875,0.125]})"},
      {"alternating", R"({"encoding":"sinusoidal_nd","dim":32,"extents":[11,17],"axis_order":[1,0],)"
                      R"("channel_order":"alternating","position_offset":1})"},
      {"normalized", R"({"encoding":"sinusoidal_nd","dim":32,"extents":[25,34],"position_offset":1,)"
                     R"("coordinates":"normalized","epsilon":1e-6})"},
      {"quarters", R"({"encoding":"sinusoidal_nd","dim":16,"extents":[25,33],"coordinates":"normalized","base":16})"},
      {"cut", R"({"encoding":"sinusoidal_nd","dim":31,"extents":[5,6,7],"first":"cos"})"},
      {"padded", R"({"encoding":"sinusoidal_nd","dim":33,"extents":[3,2,4,5],"channels":[8,4,12,6],"base":77777.25,)"
                 R"("layout":"concatenated","denominator":"half_minus_one"})"},
      {"line", R"({"encoding":"sinusoidal_nd","dim":7,"extents":[40],"channels":[6],"position_offset":-3})"},
  };
}

/// [axes, n], the last axis fastest.
inline std::vector<std::int64_t> all_places(const SinusoidalNd& encoding) {
  std::int64_t count = 1;
  for (const std::int64_t extent : encoding.extents) count *= extent;
  std::vector<std::int64_t> places;
  std::int64_t behind = count;
  for (const std::int64_t extent : encoding.extents) {
    behind /= extent;
    for (std::int64_t cell = 0; cell < count; ++cell) places.push_back(cell / behind % extent);
  }
  return places;
}

}  // namespace sextant
