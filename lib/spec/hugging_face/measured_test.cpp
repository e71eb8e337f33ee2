// Reads the configurations of ci/model_configs and compares with what transformers itself was measured to compute for
// them (ci/model_configs/measure, measured.json), also where a field is null (nulls.json) or of another type
// (values.json). Over 400 lines: a comparison for each encoding.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "lib/spec/hf_config.hpp"
#include "reference/alibi.hpp"
#include "reference/attention.hpp"
#include "reference/log_coordinates.hpp"
#include "reference/relative_bias.hpp"
#include "reference/rope_nd.hpp"
#include "reference/rope_scaling.hpp"
#include "reference/sinusoidal.hpp"
#include "reference/window_bias.hpp"

namespace sextant::hugging_face_measured_test {
namespace {

using nlohmann::json;

const std::filesystem::path folder = std::filesystem::path(SEXTANT_SOURCE_DIR) / "ci/model_configs";

std::string text_of(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  EXPECT_TRUE(stream) << path;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The claims of a file, or why it is refused.
struct Reading {
  std::vector<ConfigClaim> claims;
  std::string refusal;
};

Reading read_text(const std::string& text) {
  try {
    return {claims_of_hf_config(text), ""};
  } catch (const SpecError& error) {
    return {{}, error.what()};
  }
}

Reading read(const std::filesystem::path& path) { return read_text(text_of(path)); }

// Of the measured part, layer and stack.
const ConfigClaim* claim_of(const Reading& reading, const json& measured) {
  const auto matches = [&](const ConfigClaim& claim) {
    // Qwen2-VL's first files have the text's fields at top level.
    if (claim.part != measured.at("part") && !(claim.part.empty() && measured.at("part") == "text_config"))
      return false;
    if ((claim.kind == "query_scale") != (measured.at("operation") == "query_scale")) return false;
    if (claim.kind == "query_scale") return true;
    if (claim.kind == "rotation" || claim.kind == "table" || claim.kind == "bias") {
      const std::string operation = measured.at("operation");
      return claim.kind == (operation == "rotate" ? "rotation" : operation == "bias" ? "bias" : "table");
    }
    if (measured.contains("stack") && !claim.kind.empty()) return claim.kind == measured.at("stack");
    if (claim.layers.empty() || measured.at("layers").empty()) return true;
    return std::ranges::find(claim.layers, measured.at("layers").at(0).get<std::int64_t>()) != claim.layers.end();
  };
  const auto found = std::ranges::find_if(reading.claims, matches);
  return found == reading.claims.end() ? nullptr : &*found;
}

// transformers' frequencies are float32: a power, a reciprocal and what a rule does, each off by some roundings of a
// logarithm of at most ln 1e9.
void expect_near(double value, double measured, const std::string& what) {
  EXPECT_NEAR(value, measured, 1e-5 * std::fabs(measured) + 1e-12) << what;
}

std::int64_t length_of(const json& measured) { return measured.value("sequence_length", std::int64_t{1}); }

void expect_channels(const Rope& rope, const json& measured) {
  for (const json& entry : measured.at("channels")) {
    const Channels in = channels_of_pair(rope, rope.pairing, entry[0]);
    const Channels out = channels_of_pair(rope, rope.output_pairing, entry[0]);
    EXPECT_EQ((std::vector{in.first, in.second, out.first, out.second}),
              (std::vector<std::int64_t>(entry.begin() + 1, entry.end())));
  }
}

void expect_rotation(const Rope& rope, const json& measured) {
  // Some code hands only the channels that turn to its rotation.
  const std::int64_t width = measured.at("head_dim");
  EXPECT_TRUE(width == rope.head_dim || width == rope.rotary_dim) << width;
  const auto frequencies = measured.at("frequencies").get<std::vector<double>>();
  const auto turning = static_cast<std::int64_t>(std::ranges::count_if(frequencies, [](double w) { return w != 0; }));
  ASSERT_EQ(pairs(rope), turning);
  const reference::Precision precision{128};
  reference::RopeFrequencies truth(rope);
  for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
    expect_near(truth.radians(pair, length_of(measured), precision).lower(),
                frequencies[static_cast<std::size_t>(pair)], "pair " + std::to_string(pair));
  }
  expect_near(truth.attention_factor(length_of(measured), precision).lower(), measured.at("magnitude"),
              "attention factor");
  expect_channels(rope, measured);
}

void expect_axes(const RopeNd& rope, const json& measured) {
  const auto frequencies = measured.at("frequencies").get<std::vector<double>>();
  ASSERT_EQ(pairs(rope.rope), std::ssize(frequencies));
  EXPECT_EQ(measured.at("head_dim"), rope.rope.head_dim);
  // A file without sections was measured at positions that are alike on all axes.
  if (measured.contains("axes")) {
    EXPECT_EQ(axis_of_pairs(rope), measured.at("axes").get<std::vector<std::int64_t>>());
  }
  const reference::Precision precision{128};
  reference::RopeNdReference truth(rope);
  for (std::int64_t pair = 0; pair < pairs(rope.rope); ++pair) {
    // Measured for each unit of normalized coordinates, of which a count is 1/extent.
    const std::int64_t axis = truth.axis_of(pair);
    const double unit = rope.extents.empty() ? 1 : static_cast<double>(rope.extents[static_cast<std::size_t>(axis)]);
    expect_near(truth.radians(pair, length_of(measured), precision).lower() * unit,
                frequencies[static_cast<std::size_t>(pair)], "pair " + std::to_string(pair));
  }
  expect_near(truth.attention_factor(length_of(measured), precision).lower(), measured.at("magnitude"),
              "attention factor");
  expect_channels(rope.rope, measured);
}

void expect_sinusoids(const Sinusoidal& encoding, const json& measured) {
  EXPECT_EQ(encoding.dim, measured.at("dim"));
  ASSERT_EQ(encoding.layout, Layout::concatenated);
  ASSERT_EQ(encoding.first, First::sin);
  reference::SinusoidalReference truth(encoding);
  const auto positions = measured.at("positions").get<std::vector<std::int64_t>>();
  for (std::size_t row = 0; row < positions.size(); ++row) {
    const auto values = measured.at("values").at(row).get<std::vector<double>>();
    ASSERT_EQ(values.size(), 16);
    for (std::int64_t i = 0; i < 16; ++i) {
      const std::int64_t channel = i < 8 ? i : encoding.dim - 16 + i;
      const std::int64_t half = encoding.dim / 2;
      const reference::Rotation& rotation = truth.rotation(positions[row], channel % half, reference::Precision{128});
      const reference::Enclosure& value = channel < half ? rotation.sin : rotation.cos;
      EXPECT_NEAR(value.lower(), values[static_cast<std::size_t>(i)], 1e-5)
          << "position " << positions[row] << " channel " << channel;
    }
  }
}

// transformers' factors are float32.
void expect_query_scale(const Attention& encoding, const json& measured) {
  ASSERT_TRUE(encoding.query_scale);
  const auto positions = measured.at("positions").get<std::vector<std::int64_t>>();
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto scale = reference::query_scale(*encoding.query_scale, positions[i], reference::Precision{128});
    EXPECT_NEAR(scale.lower(), measured.at("scales").at(i).get<double>(), 1e-5) << positions[i];
  }
}

// The table's row of some queries and every key, the class token first where there is one.
void expect_window(const WindowBias& encoding, const json& measured) {
  EXPECT_EQ(weight_rows(encoding), measured.at("rows"));
  const auto queries = measured.at("queries").get<std::vector<std::int64_t>>();
  for (std::size_t i = 0; i < queries.size(); ++i) {
    const auto rows = measured.at("buckets").at(i).get<std::vector<std::int64_t>>();
    ASSERT_EQ(position_count(encoding), std::ssize(rows));
    for (std::int64_t key = 0; key < std::ssize(rows); ++key) {
      EXPECT_EQ(reference::window_row(encoding, queries[i], key), rows[static_cast<std::size_t>(key)])
          << queries[i] << " " << key;
    }
  }
}

void expect_offsets(const Spec& spec, const LogCoordinates& encoding, const json& measured) {
  const auto positions = measured.at("positions").get<std::vector<std::int64_t>>();
  EXPECT_EQ(spec.min_position, positions.front());
  EXPECT_EQ(spec.max_position, positions.back() + 1);
  for (std::size_t i = 0; i < positions.size(); ++i) {
    for (std::int64_t axis = 0; axis < 2; ++axis) {
      const auto value = reference::log_coordinate(encoding, axis, positions[i], reference::Precision{128});
      EXPECT_NEAR(value.lower(), measured.at("values").at(i).get<double>(), 1e-6) << positions[i];
    }
  }
}

void expect_equal(const Spec& spec, const json& measured) {
  const std::string operation = measured.at("operation");
  if (const auto* attention = std::get_if<Attention>(&spec.encoding)) {
    ASSERT_EQ(operation, "query_scale");
    return expect_query_scale(*attention, measured);
  }
  if (const auto* window = std::get_if<WindowBias>(&spec.encoding)) {
    ASSERT_EQ(operation, "bias");
    return expect_window(*window, measured);
  }
  if (const auto* offsets = std::get_if<LogCoordinates>(&spec.encoding)) {
    ASSERT_EQ(operation, "encode");
    return expect_offsets(spec, *offsets, measured);
  }
  if (const auto* rope = std::get_if<Rope>(&spec.encoding)) {
    ASSERT_EQ(operation, "rotate");
    expect_rotation(*rope, measured);
  } else if (const auto* rope_nd = std::get_if<RopeNd>(&spec.encoding)) {
    ASSERT_EQ(operation, "rotate");
    expect_axes(*rope_nd, measured);
  } else if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding)) {
    ASSERT_EQ(operation, "encode");
    expect_sinusoids(*sinusoidal, measured);
  } else if (const auto* learned = std::get_if<Learned>(&spec.encoding)) {
    ASSERT_EQ(operation, "encode");
    EXPECT_EQ(learned->dim, measured.at("dim"));
    EXPECT_EQ(learned->max_positions, measured.at("rows"));
    EXPECT_EQ(spec.min_position, measured.value("first_row", 0));
  } else if (const auto* alibi = std::get_if<Alibi>(&spec.encoding)) {
    ASSERT_EQ(operation, "bias");
    const auto slopes = measured.at("slopes").get<std::vector<double>>();
    ASSERT_EQ(alibi->num_heads, std::ssize(slopes));
    reference::AlibiReference truth(*alibi);
    for (std::int64_t head = 0; head < alibi->num_heads; ++head) {
      const double slope = slopes[static_cast<std::size_t>(head)];
      const double claimed = truth.slope(head, reference::Precision{128}).lower();
      if (alibi->slope_dtype) {
        EXPECT_EQ(claimed, round_to(*alibi->slope_dtype, slope)) << head;  // the file has 9 digits
      } else {
        EXPECT_NEAR(claimed, slope, slope * 1e-5);
      }
    }
  } else if (const auto* bias = std::get_if<RelativeBias>(&spec.encoding)) {
    ASSERT_EQ(operation, "bias");
    const auto buckets = measured.at("buckets").get<std::vector<std::int64_t>>();
    const std::int64_t first = measured.at("relative_positions").at(0);
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      const std::int64_t relative = first + static_cast<std::int64_t>(i);
      EXPECT_EQ(reference::bucket(*bias, relative), buckets[i]) << relative;
    }
  } else {
    ASSERT_EQ(operation, "encode");  // MAE's grid, which its preset's tests know
    EXPECT_EQ(width_of(spec.encoding), measured.at("dim").get<std::int64_t>());
  }
}

void expect_claim(const Spec& spec, const json& measured) {
  const std::string operation = measured.at("operation");
  SCOPED_TRACE(measured.at("part").get<std::string>() + " " + operation);
  if (operation != "none") return expect_equal(spec, measured);
  const auto* rope = std::get_if<Rope>(&spec.encoding);
  EXPECT_TRUE(rope != nullptr && pairs(*rope) == 0) << to_json(spec);
}

const json& measured_files() {
  static const json files = json::parse(text_of(folder / "measured.json"));
  return files;
}

// Published models whose parts no spec says yet, or whose files contradict the code that reads them.
struct Unsaid {
  std::string_view file;
  std::string_view part;
  std::string_view reason;
};
constexpr Unsaid unsaid[] = {
    {"configs/dbrx-instruct.json", "", "500000 is not read by transformers 5.24's dbrx"},
    {"configs/detr-resnet-50.json", "", "whose size the file does not state"},
    {"configs/gemma-4-31b.json", "vision_config", "table for each axis"},
    {"configs/gemma-4-e2b-it.json", "vision_config", "table for each axis"},
    {"configs/glm-4.1v-9b-thinking.json", "vision_config", "interpolated"},
    {"configs/glm-4.1v-9b-thinking-v5-style.json", "vision_config", "interpolated"},
    {"configs/kimi-k2.5.json", "vision_config", "interpolated"},
    {"configs/minimax-text-01-hf.json", "", "rotary_dim: 64 contradicts"},
    {"configs/qwen3-vl-8b.json", "vision_config", "interpolated"},
    {"configs/qwen3.5-27b.json", "vision_config", "interpolated"},
};

// Files that transformers itself does not take, and whose claim is another code's.
struct TakenElsewhere {
  std::string_view file;
  std::string_view reason;
};
constexpr TakenElsewhere taken_elsewhere[] = {
    {"configs/phi-3-mini-128k-su.json", "su is longrope to the code beside the file and to transformers 4.40"},
    {"odd/kimi-k2-own-model-type.json", "the code beside the file takes DeepSeek-V3's class"},
    {"odd/phi-3-su-as-published-old.json", "as the first"},
    {"odd/swinv2-absolute-table.json", "the coordinates are read before the table, which fails for its number of rows"},
};

void expect_unsaid(const std::string& file, const std::string& part, const std::string& refusal) {
  if (file.starts_with("odd/")) return;  // contradictory on purpose: a refusal is as good as the right claim
  const auto known =
      std::ranges::find_if(unsaid, [&](const Unsaid& entry) { return entry.file == file && entry.part == part; });
  ASSERT_NE(known, std::end(unsaid)) << refusal;
  EXPECT_NE(refusal.find(known->reason), std::string::npos) << refusal;
}

class Measured : public testing::TestWithParam<std::string> {};

// A reading is what was measured, or there is none: never another.
TEST_P(Measured, ClaimsAreWhatTransformersComputes) {
  const Reading reading = read(folder / GetParam());
  for (const json& measured : measured_files().at(GetParam()).at("claims")) {
    const ConfigClaim* claim = claim_of(reading, measured);
    const bool is_said = claim != nullptr && claim->spec;
    // What transformers itself does not take, or what does not turn, need not be said.
    if (!is_said && measured.at("operation") != "error" && measured.at("operation") != "none")
      expect_unsaid(GetParam(), measured.at("part"), claim == nullptr ? reading.refusal : claim->refusal);
    if (is_said && measured.at("operation") == "error") {
      EXPECT_NE(std::ranges::find(taken_elsewhere, GetParam(), &TakenElsewhere::file), std::end(taken_elsewhere))
          << "transformers itself does not take the file: " << to_json(*claim->spec);
    } else if (is_said) {
      expect_claim(*claim->spec, measured);
    }
  }
}

std::vector<std::string> names_of_files() {
  // Of the folders, as each test is a process that would read measured.json for its names.
  std::vector<std::string> names;
  for (const char* kind : {"configs", "odd"}) {
    for (const auto& file : std::filesystem::directory_iterator(folder / kind))
      names.push_back((std::filesystem::path(kind) / file.path().filename()).string());
  }
  std::ranges::sort(names);
  return names;
}

INSTANTIATE_TEST_SUITE_P(ModelConfigs, Measured, testing::ValuesIn(names_of_files()), [](const auto& tested) {
  std::string name = tested.param;
  std::ranges::replace_if(
      name, [](char letter) { return std::isalnum(static_cast<unsigned char>(letter)) == 0; }, '_');
  return name;
});

// Of the part that has the field, "text_config.head_dim" say.
void expect_outcome_of_null(const std::string& file, const std::string& path, const json& outcome) {
  SCOPED_TRACE(file + " with " + path + ": null");
  json config = json::parse(text_of(folder / file));
  std::string pointer = "/" + path;
  std::ranges::replace(pointer, '.', '/');
  config[json::json_pointer(pointer)] = nullptr;
  const Reading reading = read_text(config.dump());
  const std::string object = json::json_pointer(pointer).parent_pointer().to_string();
  const std::string part = object.substr(object.rfind('/') + 1);
  if (outcome == "refused") {
    for (const ConfigClaim& claim : reading.claims) EXPECT_FALSE(claim.part == part && claim.spec) << name_of(claim);
    return;
  }
  for (const json& measured : outcome.is_array() ? outcome : measured_files().at(file).at("claims")) {
    const ConfigClaim* claim = measured.at("part") == part ? claim_of(reading, measured) : nullptr;
    if (claim != nullptr && claim->spec) expect_claim(*claim->spec, measured);
  }
}

// nulls.json: what transformers makes of a null in each field that a reading may depend on.
TEST(HfConfig, ANullIsRefusedWhereTransformersRefusesIt) {
  const json files = json::parse(text_of(folder / "nulls.json"));
  for (const auto& [file, fields] : files.items()) {
    for (const auto& [path, outcome] : fields.items()) expect_outcome_of_null(file, path, outcome);
  }
}

// What values.json calls them, of a field that is `known`.
json value_named(std::string_view name, const json& known) {
  if (name == "float") return known.is_number() ? json(known.get<double>()) : json(8.0);
  if (name == "number as text") return known.is_number() ? json(known.dump()) : json("8");
  if (name == "true") return true;
  if (name == "list") return json::array();
  if (name == "object") return json::object();
  if (name == "text") return "";
  return name == "zero" ? 0 : -1;
}

// "true, list, text"
std::vector<std::string> names_of_values(const std::string& text) {
  std::vector<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) names.push_back(name.substr(name.find_first_not_of(' ')));
  return names;
}

void expect_refused(const std::string& file, const json& whole, const std::string& path, std::string_view value) {
  std::string pointer = "/" + path;
  std::ranges::replace(pointer, '.', '/');
  const json::json_pointer at(pointer);
  json config = whole;
  config[at] = value_named(value, whole.contains(at) ? whole.at(at) : json());
  const std::string object = at.parent_pointer().to_string();
  const std::string part = object.substr(object.rfind('/') + 1);
  for (const ConfigClaim& claim : read_text(config.dump()).claims)
    EXPECT_FALSE(claim.part == part && claim.spec) << file << " with " << path << ": " << config.at(at);
}

// values.json: what transformers' classes refuse in each field that a reading may depend on.
TEST(HfConfig, AValueIsRefusedWhereTransformersRefusesIt) {
  const json files = json::parse(text_of(folder / "values.json"));
  for (const auto& [file, parts] : files.items()) {
    const json whole = json::parse(text_of(folder / file));
    for (const auto& [part, groups] : parts.items()) {
      for (const auto& [values, fields] : groups.items()) {
        for (const auto& field : fields) {
          const std::string path = (part.empty() ? "" : part + ".") + field.get<std::string>();
          for (const std::string& value : names_of_values(values)) expect_refused(file, whole, path, value);
        }
      }
    }
  }
}

// "line 5: rope_theta" for what the file states.
TEST(HfConfig, EveryFieldOfEachClaimHasASource) {
  for (const std::string& name : names_of_files()) {
    for (const ConfigClaim& claim : read(folder / name).claims) {
      if (!claim.spec) continue;
      std::set<std::string> told;
      for (const FieldSource& source : claim.sources) {
        EXPECT_FALSE(source.source.empty()) << name << " " << source.field;
        EXPECT_TRUE(told.insert(source.field).second) << name << " " << source.field << " twice";
      }
      const json spec = json::parse(to_json(*claim.spec));
      for (const auto& [field, value] : spec.items()) {
        const bool is_told =
            told.contains(field) ||
            (value.is_object() && !value.empty() && std::ranges::all_of(value.items(), [&](const auto& inner) {
               return told.contains(field + "." + inner.key()) || inner.value().is_object();
             }));
        EXPECT_TRUE(is_told) << name << ", " << name_of(claim) << ": " << field;
      }
    }
  }
}

TEST(HfConfig, EveryKnownModelTypeIsMeasuredAndInTheDocument) {
  std::set<std::string> measured;
  for (const auto& [name, file] : measured_files().items()) {
    for (const auto& type : file.at("model_types")) measured.insert(type.get<std::string>());
  }
  EXPECT_GE(known_model_types().size(), 45);
  const std::string document = text_of(std::filesystem::path(SEXTANT_SOURCE_DIR) / "docs/spec.md");
  // Which transformers has not: the code lies beside the model's file, and qwen_test.cpp has its formulas.
  measured.insert("qwen");
  for (const std::string_view type : known_model_types()) {
    EXPECT_TRUE(measured.contains(std::string(type))) << type;
    EXPECT_NE(document.find("`" + std::string(type) + "`"), std::string::npos) << type << " is not in docs/spec.md";
  }
}

}  // namespace
}  // namespace sextant::hugging_face_measured_test
