#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "properties/identify/identify.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_families_test {
namespace {

using nlohmann::json;

// Claims of encodings of which no recipes are known, and what is asked where only their sizes are.
class Draw {
 public:
  explicit Draw(std::uint32_t seed) : engine_(seed) {}

  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[engine_() % values.size()];
  }
  bool once_in(std::uint32_t times) { return engine_() % times == 0; }

  std::string dtype() { return one_of<std::string>({"float32", "float32", "bfloat16", "float16"}); }
  double base(const std::string& dtype) {
    return dtype == "float32" ? one_of<double>({10000, 10000, 500000, 1e6, 150000, 25600})
                              : one_of<double>({10000, 500000, 1e6});
  }

 private:
  std::mt19937 engine_;
};

struct Drawn {
  json claim;
  json probe;
};

void take_head(Draw& draw, json& claim) {
  claim["rope_theta"] = draw.base(claim["dtype"]);
  claim["pairing"] = draw.one_of<std::string>({"half", "interleaved"});
  if (draw.once_in(5)) claim["direction"] = "clockwise";
}

Drawn drawn_rope_nd(Draw& draw) {
  json probe{{"encoding", "rope_nd"}, {"dtype", draw.dtype()}, {"max_position", 8192}};
  json claim = probe;
  const auto sections =
      draw.one_of<std::vector<std::int64_t>>({{16, 24, 24}, {16, 16}, {20, 12}, {8, 12, 12}, {11, 11, 10}});
  std::int64_t pairs = 0;
  for (const std::int64_t section : sections) pairs += section;
  claim["head_dim"] = probe["head_dim"] = 2 * pairs;
  claim["sections"] = sections;
  // Of other sections than those that are computed, as many axes.
  std::vector<std::int64_t> even(sections.size(), 0);
  for (std::int64_t i = 0; i < pairs; ++i) ++even[static_cast<std::size_t>(i) % even.size()];
  probe["sections"] = even;
  take_head(draw, claim);
  claim["frequencies"] = draw.one_of<std::string>({"shared", "per_axis"});
  // Axes that are dealt in turns have a third of the pairs each, at most.
  if (sections == std::vector<std::int64_t>{11, 11, 10} && draw.once_in(2)) claim["section_order"] = "interleaved";
  return {claim, probe};
}

Drawn drawn_xpos(Draw& draw) {
  json probe{{"encoding", "xpos"}, {"dtype", draw.dtype()}, {"max_position", 2048}, {"head_dim", 64}};
  json claim = probe;
  take_head(draw, claim);
  // Values of 16 bits do not tell four digits.
  claim["scale_base"] = claim["dtype"] == "float32" ? draw.one_of<double>({512, 512, 256, 1024, 2048}) : 512;
  claim["role"] = draw.one_of<std::string>({"query", "key"});
  return {claim, probe};
}

Drawn drawn_qk_norm_rope(Draw& draw) {
  json probe{{"encoding", "qk_norm_rope"}, {"dtype", draw.dtype()}, {"head_dim", draw.one_of<std::int64_t>({64, 128})}};
  json claim = probe;
  take_head(draw, claim);
  claim["epsilon"] = draw.one_of<double>({1e-6, 1e-5});
  claim["weight_offset"] = draw.one_of<double>({0, 1});
  return {claim, probe};
}

Drawn drawn_sinusoidal_2d(Draw& draw) {
  json probe{{"encoding", "sinusoidal_2d"}, {"dtype", draw.dtype()}, {"dim", 128}, {"height", 32}, {"width", 48}};
  json claim = probe;
  claim["base"] = draw.one_of<double>({10000, 10000, 1000, 100});
  claim["layout"] = draw.one_of<std::string>({"interleaved", "concatenated"});
  claim["axis_order"] = draw.one_of<std::string>({"height_first", "width_first"});
  return {claim, probe};
}

Drawn drawn_sinusoidal_nd(Draw& draw) {
  const auto extents = draw.one_of<std::vector<std::int64_t>>({{64, 64}, {40, 64}, {16, 32, 32}});
  const std::int64_t each = extents.size() == 2 ? 64 : 32;
  const std::vector<std::int64_t> channels(extents.size(), each);
  json probe{{"encoding", "sinusoidal_nd"},
             {"dtype", draw.dtype()},
             {"dim", each * std::ssize(extents)},
             {"extents", extents},
             {"channels", channels}};
  json claim = probe;
  claim["base"] = draw.one_of<double>({10000, 10000, 1000});
  claim["layout"] = draw.one_of<std::string>({"interleaved", "concatenated"});
  claim["first"] = draw.one_of<std::string>({"sin", "cos"});
  if (draw.once_in(3)) claim["axis_order"] = extents.size() == 2 ? std::vector<int>{1, 0} : std::vector<int>{2, 0, 1};
  if (draw.once_in(3)) claim["position_offset"] = 1;
  return {claim, probe};
}

Drawn drawn_attention(Draw& draw) {
  json probe{{"encoding", "attention"}, {"dtype", "float32"},
             {"num_heads", 8},          {"num_kv_heads", draw.one_of<int>({8, 2})},
             {"head_dim", 32},          {"max_position", 4096}};
  json claim = probe;
  claim["causal"] = draw.once_in(2);
  if (claim["causal"] && draw.once_in(3)) claim["window"] = draw.one_of<int>({16, 128, 512});
  if (draw.once_in(4)) claim["logit_softcap"] = draw.one_of<double>({50, 30});
  if (draw.once_in(4)) claim["softmax_scale"] = draw.one_of<double>({0.25, 0.125, 1});
  switch (draw.one_of<int>({0, 1, 2})) {
    case 1:
      claim["position"] = {{"encoding", "alibi"}, {"num_heads", 8}, {"mask", claim["causal"] ? "causal" : "symmetric"}};
      break;
    case 2:
      claim["position"] = {{"encoding", "rope"},
                           {"head_dim", 32},
                           {"pairing", draw.one_of<std::string>({"half", "interleaved"})},
                           {"rope_theta", draw.base("float32")}};
      break;
    default: break;
  }
  return {claim, probe};
}

Drawn drawn_rotary_table(Draw& draw) {
  json probe{{"encoding", "rotary_table"}, {"dtype", draw.dtype()}, {"head_dim", draw.one_of<int>({64, 128})}};
  json claim = probe;
  claim["rope_theta"] = draw.base(claim["dtype"]);
  return {claim, probe};
}

Drawn drawn_alibi(Draw& draw) {
  json probe{{"encoding", "alibi"}, {"dtype", draw.dtype()}, {"num_heads", draw.one_of<int>({8, 12, 32, 40})}};
  json claim = probe;
  claim["mask"] = draw.one_of<std::string>({"causal", "symmetric"});
  // Of a power of two of heads both are the same slopes.
  const bool is_power = claim["num_heads"] == 8 || claim["num_heads"] == 32;
  if (draw.once_in(4) && !is_power) claim["slopes"] = "geometric";
  if (draw.once_in(4)) claim["bias_max"] = 16;
  return {claim, probe};
}

Drawn drawn_relative_bias(Draw& draw) {
  json probe{{"encoding", "relative_bias"}, {"dtype", draw.dtype()}, {"max_position", 8192}, {"num_buckets", 32}};
  json claim = probe;
  if (draw.once_in(3)) {
    claim["buckets"] = "log";
    claim["max_distance"] = draw.one_of<int>({128, 512});
    return {claim, probe};
  }
  claim["bidirectional"] = draw.once_in(2);
  claim["max_distance"] = draw.one_of<int>({128, 256, 512});
  return {claim, probe};
}

Drawn drawn_fourier(Draw& draw) {
  json probe{{"encoding", "fourier"},
             {"dtype", draw.dtype()},
             {"axes", draw.one_of<int>({2, 3})},
             {"bands", 8},
             {"lowest", 0},
             {"highest", 6.5},
             {"identity", "first"},
             {"max_position", 64}};
  json claim = probe;
  claim["identity"] = draw.one_of<std::string>({"first", "last"});
  claim["angle_unit"] = draw.one_of<std::string>({"radian", "half_turn", "turn"});
  claim["first"] = draw.one_of<std::string>({"sin", "cos"});
  claim["channel_order"] = draw.one_of<std::string>(
      {"frequency_function_axis", "axis_frequency_function", "function_axis_frequency", "axis_function_frequency"});
  return {claim, probe};
}

Drawn drawn_log_coordinates(Draw& draw) {
  json probe{{"encoding", "log_coordinates"}, {"dtype", draw.dtype()}, {"window", {8, 12}}};
  json claim = probe;
  // The window at hand and the one that was trained on are the same function where they are the same.
  if (draw.once_in(2)) claim["pretrained_window"] = {draw.one_of<int>({6, 16, 24}), draw.one_of<int>({7, 10, 32})};
  return {claim, probe};
}

Drawn drawn_numbers(Draw& draw) {
  const bool binary = draw.once_in(2);
  json probe{{"encoding", binary ? "binary" : "integer"}, {"dtype", "float32"}, {"max_position", 4096}};
  if (binary) probe["dim"] = 16;
  json claim = probe;
  claim["normalize"] = draw.once_in(2);
  return {claim, probe};
}

using Family = Drawn (*)(Draw&);
struct NamedFamily {
  const char* name;
  Family draw;
};
constexpr NamedFamily families[] = {{"RopeNd", drawn_rope_nd},
                                    {"Xpos", drawn_xpos},
                                    {"QkNormRope", drawn_qk_norm_rope},
                                    {"Sinusoidal2d", drawn_sinusoidal_2d},
                                    {"SinusoidalNd", drawn_sinusoidal_nd},
                                    {"Attention", drawn_attention},
                                    {"RotaryTable", drawn_rotary_table},
                                    {"Alibi", drawn_alibi},
                                    {"RelativeBias", drawn_relative_bias},
                                    {"Fourier", drawn_fourier},
                                    {"LogCoordinates", drawn_log_coordinates},
                                    {"Numbers", drawn_numbers}};

// In each run of the tests 5 of each family; SEXTANT_IDENTIFY_DRAWS asks for more.
int draws() {
  const char* const asked = std::getenv("SEXTANT_IDENTIFY_DRAWS");
  return asked != nullptr ? std::atoi(asked) / static_cast<int>(std::size(families)) : 5;
}

class Families : public testing::TestWithParam<int> {};

TEST_P(Families, AreNamedFromPlainProbes) {
  const auto builtin = builtin_subject();
  int exact = 0;
  int sure = 0;
  int missed_calls = 0;
  double slowest = 0;
  std::string missed;
  for (int i = 0; i < draws(); ++i) {
    Draw draw(static_cast<std::uint32_t>(i));
    const Drawn drawn = families[GetParam()].draw(draw);
    const Spec claim = parse_spec(drawn.claim.dump());
    const FunctionSubject subject("fixed", [&](const Spec&) -> FunctionSubject::Call {
      std::shared_ptr<Session> session = builtin->open(claim);
      return [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
    });
    const auto start = std::chrono::steady_clock::now();
    const Identification found = identify(subject, parse_spec(drawn.probe.dump()));
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const bool named = found.spec && describe(*found.spec) == describe(claim);
    std::string told = describe(claim) + ":\n    " + (found.spec ? describe(*found.spec) : "unidentified") + ", " +
                       std::string(name_of(found.confidence));
    for (const Fault& fault : found.faults) told += "\n    but " + fault.words;
    for (const std::string& row : found.table) {
      told += "\n    " + row;
      if (told.size() > 2000) break;
    }
    exact += named ? 1 : 0;
    sure += found.confidence == Confidence::high ? 1 : 0;
    slowest = std::max(slowest, seconds);
    missed_calls = std::max(missed_calls, static_cast<int>(found.calls));
    EXPECT_LT(found.calls, 200) << told;
    EXPECT_TRUE(named || found.confidence != Confidence::high) << told;
    if (!named) missed += "\n  " + told;
  }
  EXPECT_GE(exact * 100, draws() * 99) << exact << " of " << draws() << missed;
  RecordProperty("sure", sure);
  RecordProperty("calls", missed_calls);
  RecordProperty("slowest", std::to_string(slowest));
}

std::string name_of_family(const testing::TestParamInfo<int>& info) { return families[info.param].name; }

INSTANTIATE_TEST_SUITE_P(Identify, Families, testing::Range(0, static_cast<int>(std::size(families))), name_of_family);

}  // namespace
}  // namespace sextant::identify::identify_families_test
