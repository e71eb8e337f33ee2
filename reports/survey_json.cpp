#include "reports/survey_json.hpp"

#include <fmt/format.h>

#include <stdexcept>

#include "reports/json_numbers.hpp"

// Each struct is described once, by the members that it has; a Writer and a Reader go over the same description.

namespace sextant {
namespace {

using nlohmann::ordered_json;

template <class Io>
void describe(Io& io, RecipeCurve& curve) {
  io("name", curve.name);
  io("absolute", curve.absolute);
}

template <class Io>
void describe(Io& io, ErrorGrid& grid) {
  io("positions", grid.positions);
  io("pairs", grid.pairs);
  io("pair_stride", grid.pair_stride);
  io("absolute", grid.absolute);
  io("ulps", grid.ulps);
  io("of_bound", grid.of_bound);
  io("bound", grid.bound);
  io("recipes", grid.recipes);
}

template <class Io>
void describe(Io& io, FrequencyCurve& curve) {
  io("claimed", curve.claimed);
  io("measured", curve.measured);
}

template <class Io>
void describe(Io& io, CodeMap& map) {
  io("first_position", map.first_position);
  io("rows", map.rows);
  io("width", map.width);
  io("values", map.values);
}

template <class Io>
void describe(Io& io, SimilarityCurve& curve) {
  io("anchor", curve.anchor);
  io("offsets", curve.offsets);
  io("claimed", curve.claimed);
  io("measured", curve.measured);
  io("searched", curve.searched);
  io("nearest", curve.nearest);
  io("nearest_distance", curve.nearest_distance);
  io("searched_for_aliases", curve.searched_for_aliases);
  io("aliases", curve.aliases);
  io("alias_distances", curve.alias_distances);
}

template <class Io>
void describe(Io& io, BiasMap& map) {
  io("heads", map.heads);
  io("queries", map.queries);
  io("keys", map.keys);
  io("values", map.values);
}

template <class Io>
void describe(Io& io, Survey& survey) {
  io("measured_class", survey.measured_class);
  io("stage", survey.stage);
  io("stage_evidence", survey.stage_evidence);
  io("recipe", survey.recipe);
  io("angle_bits", survey.angle_bits);
  io("output_bits", survey.output_bits);
  io("horizon", survey.horizon);
  io("half_spacing", survey.half_spacing);
  io("errors", survey.errors);
  io("frequencies", survey.frequencies);
  io("codes", survey.codes);
  io("codes_at_horizon", survey.codes_at_horizon);
  io("similarity", survey.similarity);
  io("bias", survey.bias);
}

template <class Value>
constexpr bool is_optional = false;
template <class Value>
constexpr bool is_optional<std::optional<Value>> = true;

class Writer {
 public:
  template <class Member>
  void operator()(const char* name, Member& member) {
    json_[name] = written(member);
  }
  ordered_json json() && { return std::move(json_); }

 private:
  static ordered_json written(std::string& text) { return text; }
  static ordered_json written(std::int64_t& value) { return value; }
  static ordered_json written(double& value) { return short_number_json(value); }
  template <class Value>
  static ordered_json written(std::optional<Value>& value) {
    return value ? written(*value) : ordered_json();
  }
  template <class Value>
  static ordered_json written(std::vector<Value>& values) {
    auto list = ordered_json::array();
    for (Value& value : values) list.push_back(written(value));
    return list;
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  static ordered_json written(Struct& value) {
    Writer inner;
    describe(inner, value);
    return std::move(inner).json();
  }

  ordered_json json_ = ordered_json::object();
};

class Reader {
 public:
  Reader(const ordered_json& json, std::string place) : json_(json), place_(std::move(place)) {
    if (!json.is_object()) throw std::invalid_argument(fmt::format("{}: expected an object", place_));
  }

  template <class Member>
  void operator()(const char* name, Member& member) {
    const std::string place = fmt::format("{}.{}", place_, name);
    const auto found = json_.find(name);
    // Reports of before a member was there have none.
    if constexpr (is_optional<Member>) {
      if (found == json_.end()) return;
    }
    if (found == json_.end()) throw std::invalid_argument(fmt::format("{}: missing", place));
    read(*found, member, place);
  }

 private:
  static void read(const ordered_json& json, std::string& text, const std::string& place) {
    if (!json.is_string()) throw std::invalid_argument(fmt::format("{}: expected a string", place));
    text = json.get<std::string>();
  }
  static void read(const ordered_json& json, std::int64_t& value, const std::string& place) {
    if (!json.is_number_integer()) throw std::invalid_argument(fmt::format("{}: expected an integer", place));
    value = json.get<std::int64_t>();
  }
  static void read(const ordered_json& json, double& value, const std::string& place) {
    try {
      value = number_of(json);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(fmt::format("{}: {}", place, error.what()));
    }
  }
  template <class Value>
  static void read(const ordered_json& json, std::optional<Value>& value, const std::string& place) {
    if (json.is_null()) return;
    read(json, value.emplace(), place);
  }
  template <class Value>
  static void read(const ordered_json& json, std::vector<Value>& values, const std::string& place) {
    if (!json.is_array()) throw std::invalid_argument(fmt::format("{}: expected a list", place));
    for (const ordered_json& one : json) {
      const std::string place_of_one = fmt::format("{}[{}]", place, values.size());
      read(one, values.emplace_back(), place_of_one);
    }
  }
  template <class Struct>
  requires std::is_class_v<Struct>
  static void read(const ordered_json& json, Struct& value, const std::string& place) {
    Reader inner(json, place);
    describe(inner, value);
  }

  const ordered_json& json_;
  std::string place_;
};

void need(bool condition, const char* what) {
  if (!condition) throw std::invalid_argument(fmt::format("survey.{}", what));
}

// Whether rows x columns is the number of values, without overflow.
bool fits(std::size_t values, std::int64_t rows, std::int64_t columns) {
  if (rows < 0 || columns < 0) return false;
  const auto r = static_cast<std::size_t>(rows);
  const auto c = static_cast<std::size_t>(columns);
  return r == 0 || c == 0 ? values == 0 : values / c == r && values % c == 0;
}

}  // namespace

ordered_json survey_json(const Survey& survey) {
  Survey copy = survey;
  Writer writer;
  describe(writer, copy);
  return std::move(writer).json();
}

Survey survey_of(const ordered_json& json) {
  Survey survey;
  Reader reader(json, "survey");
  describe(reader, survey);
  if (survey.errors) {
    const ErrorGrid& grid = *survey.errors;
    const std::int64_t rows = std::ssize(grid.positions);
    need(fits(grid.absolute.size(), rows, grid.pairs) && fits(grid.ulps.size(), rows, grid.pairs) &&
             fits(grid.of_bound.size(), rows, grid.pairs) && std::ssize(grid.bound) == rows,
         "errors: the lists do not fit positions and pairs");
    for (const RecipeCurve& curve : grid.recipes)
      need(std::ssize(curve.absolute) == rows, "errors.recipes: a list does not fit the positions");
  }
  if (survey.frequencies)
    need(survey.frequencies->claimed.size() == survey.frequencies->measured.size(),
         "frequencies: the two lists differ in length");
  for (const std::optional<CodeMap>* map : {&survey.codes, &survey.codes_at_horizon}) {
    if (*map)
      need(fits((*map)->values.size(), (*map)->rows, (*map)->width), "codes: the values do not fit rows and width");
  }
  if (survey.similarity) {
    const SimilarityCurve& curve = *survey.similarity;
    need(curve.claimed.size() == curve.offsets.size() && curve.measured.size() == curve.offsets.size(),
         "similarity: the lists differ in length");
    need(curve.aliases.size() == curve.alias_distances.size(), "similarity: an alias has no distance");
  }
  if (survey.bias) {
    need(survey.bias->queries >= 0 && survey.bias->keys >= 0 && survey.bias->keys < (std::int64_t{1} << 31) &&
             survey.bias->queries < (std::int64_t{1} << 31) &&
             fits(survey.bias->values.size(), survey.bias->heads, survey.bias->queries * survey.bias->keys),
         "bias: the values do not fit heads, queries and keys");
  }
  return survey;
}

}  // namespace sextant
