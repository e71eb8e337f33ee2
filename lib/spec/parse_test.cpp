#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "lib/spec/presets.hpp"
#include "lib/spec/refusal_test.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::spec_parse_test {
namespace {

TEST(ParseSpec, FillsDefaults) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":512})");
  const auto& encoding = std::get<Sinusoidal>(spec.encoding);
  EXPECT_EQ(encoding.dim, 512);
  EXPECT_EQ(encoding.base, 10000);
  EXPECT_EQ(encoding.layout, Layout::interleaved);
  EXPECT_EQ(spec.dtype, Dtype::float32);
  EXPECT_EQ(spec.min_position, 0);
  EXPECT_EQ(spec.max_position, 131072);
  EXPECT_EQ(spec.accuracy, AccuracyClass::float32_angle);
}

TEST(ParseSpec, RotaryDimComesFromTheFactorAsHuggingFaceTruncatesIt) {
  const auto rotary_dim = [](const std::string& json) { return std::get<Rope>(parse_spec(json).encoding).rotary_dim; };
  EXPECT_EQ(rotary_dim(R"({"encoding":"rope","head_dim":96,"partial_rotary_factor":0.25})"), 24);
  EXPECT_EQ(rotary_dim(R"({"encoding":"rope","head_dim":80,"partial_rotary_factor":0.4})"), 32);
  EXPECT_EQ(rotary_dim(R"({"encoding":"rope","head_dim":64,"rotary_dim":32,"partial_rotary_factor":0.5})"), 32);
  EXPECT_EQ(rotary_dim(R"({"encoding":"rope","head_dim":64})"), 64);
}

TEST(ParseSpec, OutputPairingFollowsPairing) {
  const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":64,"pairing":"interleaved"})");
  EXPECT_EQ(std::get<Rope>(spec.encoding).output_pairing, Pairing::interleaved);
}

TEST(ParseSpec, DefaultScalingIsNoScaling) {
  EXPECT_EQ(refusal(R"({"encoding":"rope","head_dim":64,"rope_scaling":null})"), "accepted");
  EXPECT_EQ(refusal(R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"default"}})"), "accepted");
}

std::string with_scaling(const std::string& rule, const std::string& more = "") {
  return R"({"encoding":"rope","head_dim":4,"rope_scaling":)" + rule + more + "}";
}

struct Scaling {
  const char* rule;
  const char* message;
};

void PrintTo(const Scaling& scaling, std::ostream* stream) { *stream << scaling.rule; }

class RefusedScaling : public testing::TestWithParam<Scaling> {};

TEST_P(RefusedScaling, InOneLineThatNamesTheFieldWithItsPath) {
  const std::string message = refusal(with_scaling(GetParam().rule));
  EXPECT_NE(message.find(std::string("spec: ") + GetParam().message), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Specs, RefusedScaling,
    testing::Values(
        Scaling{R"({"factor":2})", "rope_scaling.rope_type: required"},
        Scaling{R"({"rope_type":"default","factor":2})", "rope_scaling.factor: unknown field"},
        Scaling{R"({"rope_type":"linear"})", "rope_scaling.factor: required"},
        Scaling{R"({"rope_type":"linear","factor":0.5})",
                "rope_scaling.factor: expected a finite number of at least 1"},
        Scaling{R"({"rope_type":"linear","factor":"2"})", "rope_scaling.factor: expected a number"},
        Scaling{R"({"rope_type":"linear","factor":2,"beta_fast":32})", "rope_scaling.beta_fast: unknown field"},
        Scaling{R"({"rope_type":"ntk","factor":0})", "rope_scaling.factor: expected a finite number of at least 1"},
        Scaling{R"({"rope_type":"dynamic","factor":2})", "rope_scaling.original_max_position_embeddings: required"},
        Scaling{R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":0})",
                "rope_scaling.original_max_position_embeddings: expected an integer from 1"},
        Scaling{R"({"rope_type":"yarn","factor":2})", "rope_scaling.original_max_position_embeddings: required"},
        Scaling{R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8,"beta_fast":0.5})",
                "rope_scaling.beta_fast: expected a number of at least beta_slow"},
        Scaling{
            R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8,"beta_fast":1,"truncate":false})",
            "rope_scaling.beta_fast: expected a number above beta_slow = 1 where truncate is false"},
        Scaling{R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8,"beta_slow":0})",
                "rope_scaling.beta_slow: expected a finite number above 0"},
        Scaling{R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8,"truncate":1})",
                "rope_scaling.truncate: expected true or false"},
        Scaling{R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8,"mscale":1})",
                "rope_scaling.mscale_all_dim: required"},
        Scaling{R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8,)"
                R"("mscale":1,"mscale_all_dim":1,"attention_factor":1})",
                "rope_scaling.attention_factor: contradicts"},
        Scaling{R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8,"attention_factor":0})",
                "rope_scaling.attention_factor: expected a finite number above 0"},
        Scaling{R"({"rope_type":"longrope","factor":2,"original_max_position_embeddings":8,"short_factor":[1,1]})",
                "rope_scaling.long_factor: required"},
        Scaling{R"({"rope_type":"longrope","factor":2,"original_max_position_embeddings":8,)"
                R"("short_factor":[1,1],"long_factor":[1]})",
                "rope_scaling.long_factor: expected a number for each of the 2 pairs, got 1"},
        Scaling{R"({"rope_type":"longrope","factor":2,"original_max_position_embeddings":8,)"
                R"("short_factor":[1,0],"long_factor":[1,1]})",
                "rope_scaling.short_factor[1]: expected a finite number above 0"},
        Scaling{R"({"rope_type":"longrope","factor":2,"original_max_position_embeddings":8,)"
                R"("short_factor":[1,"a"],"long_factor":[1,1]})",
                "rope_scaling.short_factor[1]: expected a number"},
        Scaling{
            R"({"rope_type":"longrope","original_max_position_embeddings":8,"short_factor":[1,1],"long_factor":[1,1]})",
            "rope_scaling.factor: required, or attention_factor"},
        Scaling{R"({"rope_type":"longrope","original_max_position_embeddings":8,"short_factor":[1,1],)"
                R"("long_factor":[1,1],"short_mscale":1.1})",
                "rope_scaling.long_mscale: required: short_mscale and long_mscale come together"},
        Scaling{R"({"rope_type":"longrope","original_max_position_embeddings":8,"short_factor":[1,1],)"
                R"("long_factor":[1,1],"long_mscale":1.1})",
                "rope_scaling.short_mscale: required"},
        Scaling{R"({"rope_type":"longrope","original_max_position_embeddings":8,"short_factor":[1,1],)"
                R"("long_factor":[1,1],"short_mscale":1.1,"long_mscale":0})",
                "rope_scaling.long_mscale: expected a finite number above 0"},
        Scaling{R"({"rope_type":"longrope","original_max_position_embeddings":8,"short_factor":[1,1],)"
                R"("long_factor":[1,1],"short_mscale":1.1,"long_mscale":1.2,"attention_factor":1})",
                "rope_scaling.attention_factor: contradicts short_mscale"},
        Scaling{R"({"rope_type":"none","factor":2})", "rope_scaling.factor: unknown field"},
        Scaling{R"({"rope_type":"longrope","factor":2,"original_max_position_embeddings":1,)"
                R"("short_factor":[1,1],"long_factor":[1,1]})",
                "rope_scaling.original_max_position_embeddings: expected an integer from 2"},
        Scaling{R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8,"low_freq_factor":1})",
                "rope_scaling.high_freq_factor: required"},
        Scaling{R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8,)"
                R"("low_freq_factor":4,"high_freq_factor":3})",
                "rope_scaling.high_freq_factor: expected a number of at least low_freq_factor"},
        Scaling{R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8,)"
                R"("low_freq_factor":0,"high_freq_factor":4})",
                "rope_scaling.low_freq_factor: expected a finite number above 0"},
        Scaling{R"({"rope_type":"proportional","factor":0})",
                "rope_scaling.factor: expected a finite number above 0"}));

TEST(ParseSpec, ScalingsThatContradictOtherFieldsAreRefused) {
  const auto message = [](const std::string& rule, const std::string& more) {
    return refusal(with_scaling(rule, more));
  };
  const char* ntk = R"({"rope_type":"ntk","factor":2})";
  EXPECT_NE(message(ntk, R"(,"rotary_dim":2)").find("rotary_dim: expected more than 2"), std::string::npos);
  EXPECT_NE(message(ntk, R"(,"rotary_layout":"spread")").find("rotary_layout: spread is defined for"),
            std::string::npos);
  EXPECT_NE(
      message(R"({"rope_type":"proportional"})", R"(,"rotary_layout":"prefix")").find("rotary_layout: expected spread"),
      std::string::npos);
  EXPECT_NE(message(R"({"rope_type":"yarn","factor":2,"original_max_position_embeddings":8})", R"(,"rope_theta":1)")
                .find("rope_theta: expected a number above 1"),
            std::string::npos);
}

TEST(ParseSpec, EveryScalingIsWrittenWithEveryField) {
  for (const char* rule : {R"({"rope_type":"linear","factor":2.5})", R"({"rope_type":"ntk","factor":8.0})",
                           R"({"rope_type":"dynamic","factor":2.0,"original_max_position_embeddings":4096,)"
                           R"("length_scope":"row","length_steps":"every"})",
                           R"({"rope_type":"dynamic","factor":2.0,"original_max_position_embeddings":8192,)"
                           R"("length_scope":"call","length_steps":"doublings"})",
                           R"({"rope_type":"yarn","factor":40.0,"original_max_position_embeddings":4096,)"
                           R"("beta_fast":33.0,"beta_slow":0.1,"truncate":false,"mscale":0.707,)"
                           R"("mscale_all_dim":1.25,"attention_factor":null})",
                           R"({"rope_type":"yarn","factor":40.0,"original_max_position_embeddings":4096,)"
                           R"("beta_fast":32.0,"beta_slow":1.0,"truncate":true,"mscale":null,)"
                           R"("mscale_all_dim":null,"attention_factor":1.1})",
                           R"({"rope_type":"longrope","original_max_position_embeddings":4096,)"
                           R"("short_factor":[1.0,0.9],"long_factor":[1.0800000429153442,30.0],)"
                           R"("factor":32.0,"attention_factor":null,"short_mscale":null,"long_mscale":null,)"
                           R"("length_scope":"call"})",
                           R"({"rope_type":"longrope","original_max_position_embeddings":4096,)"
                           R"("short_factor":[1.0,0.9],"long_factor":[1.0800000429153442,30.0],)"
                           R"("factor":null,"attention_factor":null,"short_mscale":1.1,"long_mscale":1.25,)"
                           R"("length_scope":"call"})",
                           R"({"rope_type":"none"})",
                           R"({"rope_type":"llama3","factor":8.0,"original_max_position_embeddings":8192,)"
                           R"("low_freq_factor":1.0,"high_freq_factor":4.0})",
                           R"({"rope_type":"proportional","factor":0.5})"}) {
    const std::string written = to_json(parse_spec(with_scaling(rule)));
    EXPECT_NE(written.find(std::string("\"rope_scaling\":") + rule), std::string::npos) << written;
    EXPECT_EQ(to_json(parse_spec(written)), written);
  }
}

TEST(ParseSpec, ProportionalSpreadsThePairs) {
  const auto rope = std::get<Rope>(
      parse_spec(with_scaling(R"({"rope_type":"proportional"})", R"(,"partial_rotary_factor":0.5)")).encoding);
  EXPECT_EQ(rope.rotary_layout, RotaryLayout::spread);
  EXPECT_EQ(rope.rotary_dim, 2);
}

TEST(RopeScaling, OnlyDynamicAndLongropeDependOnTheLength) {
  EXPECT_EQ(length_limit(DynamicScaling{2, 4096}), 4096);
  EXPECT_EQ(length_limit(LongropeScaling{4096, {}, {}, {}, {}}), 4096);
  EXPECT_EQ(length_limit(YarnScaling{}), std::nullopt);
  EXPECT_EQ(length_limit(DefaultScaling{}), std::nullopt);
}

TEST(RopeScaling, NoneTurnsNoPair) {
  const auto rope_of = [](const std::string& more) {
    return std::get<Rope>(parse_spec(with_scaling(R"({"rope_type":"none"})", more)).encoding);
  };
  const Rope plain = rope_of("");
  EXPECT_EQ(pairs(plain), 0);
  const auto carried = [](const Rope& rope) {
    std::vector<std::int64_t> inputs(static_cast<std::size_t>(rope.head_dim), -1);
    for (const Passthrough& channel : passthrough_channels(rope))
      inputs[static_cast<std::size_t>(channel.output)] = channel.input;
    return inputs;
  };
  EXPECT_EQ(carried(plain), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(carried(rope_of(R"(,"rotary_layout":"spread")")), (std::vector<std::int64_t>{0, 1, 2, 3}));
  EXPECT_EQ(carried(rope_of(R"(,"pairing":"interleaved","output_pairing":"half")")),
            (std::vector<std::int64_t>{0, 2, 1, 3}));
  EXPECT_EQ(length_limit(plain.rope_scaling), std::nullopt);
}

class Refused : public testing::TestWithParam<Refusal> {};

TEST_P(Refused, InOneLineThatNamesTheField) {
  const std::string message = refusal(GetParam().json);
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Specs, Refused,
    testing::Values(
        Refusal{R"({"encoding":"rope","head_dim":64,"typo":1})", "spec: typo: unknown field"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"rope_theta":1e6})", "spec: rope_theta: unknown field"},
        Refusal{R"({"encoding":"rope","head_dim":64,"head_dim":128})", "\"head_dim\" is given twice"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"default","rope_type":"yarn"}})",
                "\"rope_type\" is given twice"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"warp"}})",
                "rope_scaling.rope_type: expected one of default"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"default","factor":2}})",
                "rope_scaling.factor: unknown field"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rope_scaling":8})",
                "rope_scaling: expected an object or null, got 8"},
        Refusal{R"({"encoding":"rope","head_dim":63})", "head_dim: expected an even number"},
        Refusal{R"({"encoding":"rope","head_dim":-2})", "head_dim"},
        Refusal{R"({"encoding":"rope","head_dim":"64"})", "head_dim: expected an integer, got \"64\""},
        Refusal{R"({"encoding":"rope","head_dim":64.5})", "head_dim: expected an integer, got 64.5"},
        Refusal{R"({"encoding":"rope","head_dim":18446744073709551615})",
                "head_dim: 18446744073709551615 does not fit"},
        Refusal{R"({"encoding":"rope"})", "head_dim: required"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rotary_dim":66})", "rotary_dim: expected at most head_dim"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rotary_dim":0})", "rotary_dim: expected an even number"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rotary_dim":16,"partial_rotary_factor":0.5})",
                "rotary_dim: 16 contradicts partial_rotary_factor"},
        Refusal{R"({"encoding":"rope","head_dim":64,"partial_rotary_factor":1.5})",
                "partial_rotary_factor: expected a number above 0"},
        Refusal{R"({"encoding":"rope","head_dim":64,"partial_rotary_factor":0.3})",
                "partial_rotary_factor: head_dim 64 times 0.3 makes rotary_dim 19"},
        Refusal{R"({"encoding":"rope","head_dim":64,"rope_theta":0})",
                "rope_theta: expected a finite number of at least 1"},
        Refusal{R"({"encoding":"rope","head_dim":64,"pairing":"neox"})",
                "pairing: expected one of interleaved, half, got \"neox\""},
        Refusal{R"({"encoding":"sinusoidal"})", "dim: required"},
        Refusal{R"({"encoding":"sinusoidal","dim":7})", "dim: expected an even number"},
        Refusal{R"({"encoding":"sinusoidal","dim":2,"denominator":"half_minus_one"})",
                "denominator: half_minus_one divides by dim/2 - 1"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"base":-1})", "base: expected a finite number of at least 1"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"scale":0})", "scale: expected a finite number other than 0"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"position_offset":9007199254740993})", "position_offset"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"max_position":0})",
                "max_position: expected an integer above min_position"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"min_position":-9007199254740993})", "min_position"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"dtype":"int64"})", "dtype: expected one of float32"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"accuracy":"good"})",
                "accuracy: expected one of correctly-rounded"},
        Refusal{R"({"encoding":"chebyshev","dim":8})",
                "encoding: expected one of integer, binary, sinusoidal, sinusoidal_2d, sinusoidal_nd, fourier, "
                "log_coordinates, learned, rope, rope_nd, xpos, alibi, relative_bias, window_bias, rotary_table, "
                "qk_norm_rope, attention, got \"chebyshev\""},
        Refusal{R"({"encoding":"binary","dim":4,"evaluation":"dtype"})",
                "evaluation: expected float32 for the dtype float32: dtype is for float16 and bfloat16"},
        Refusal{R"({"encoding":"binary","dim":4,"dtype":"float64","evaluation":"dtype-accumulate"})",
                "evaluation: expected float32 for the dtype float64: dtype-accumulate is for float16 and bfloat16"},
        Refusal{R"({"encoding":"binary","dim":4,"trained_positions":0})",
                "trained_positions: expected an integer above min_position = 0 and at most 2^53, got 0"},
        Refusal{R"({"encoding":"binary","dim":4,"evaluation":"float64"})",
                "evaluation: expected one of float32, table, dtype, dtype-accumulate"},
        Refusal{R"({"encoding":"binary","dim":4,"libm":0.25})",
                "libm: expected a number of ULP from 0.5 to 64, got 0.25"},
        Refusal{R"({"encoding":"binary","dim":4,"libm":65})", "libm: expected a number of ULP"},
        Refusal{R"({"dim":64})", "encoding: required"}, Refusal{R"([1,2])", "expected a JSON object"},
        Refusal{R"({"encoding":)", "not valid JSON"}, Refusal{"", "not valid JSON"},
        Refusal{R"({"encoding":"sinusoidal","dim":64,"base":1e999})", "not valid JSON"}));

TEST(ParseSpec, EveryPresetParsesAndItsWrittenFormMeansTheSame) {
  for (const Preset& preset : presets()) {
    const std::string written = to_json(parse_spec(preset.json));
    EXPECT_EQ(to_json(parse_spec(written)), written) << preset.name;
  }
  EXPECT_FALSE(presets().empty());
}

TEST(ParseSpec, EveryFieldReachesTheWrittenForm) {
  const std::string written = R"({"encoding":"sinusoidal","dim":34,"base":77777.25,"layout":"concatenated",)"
                              R"("first":"cos","denominator":"half_minus_one",)"
                              R"("position_offset":-2,"scale":0.5,"dtype":"bfloat16","min_position":-5,)"
                              R"("max_position":9,"accuracy":"faithful"})";
  EXPECT_EQ(to_json(parse_spec(written)), written);
  const std::string claims =
      R"({"encoding":"binary","dim":4,"normalize":false,"dtype":"bfloat16","min_position":0,)"
      R"("max_position":9,"accuracy":"pair-norm","evaluation":"dtype","libm":2.5,"trained_positions":7})";
  EXPECT_EQ(to_json(parse_spec(claims)), claims);
  const std::string rope = R"({"encoding":"rope","head_dim":64,"rotary_dim":32,"rope_theta":500000.0,)"
                           R"("pairing":"interleaved","output_pairing":"half",)"
                           R"("rotary_layout":"spread","direction":"clockwise","rope_scaling":null,)"
                           R"("dtype":"float16","min_position":0,"max_position":9,)"
                           R"("accuracy":"exact-angle"})";
  EXPECT_EQ(to_json(parse_spec(rope)), rope);
}

TEST(Channels, OfEachLayoutAndPairing) {
  const auto sinusoidal = [](Layout layout, First first) {
    Sinusoidal encoding;
    encoding.dim = 8;
    encoding.layout = layout;
    encoding.first = first;
    const Channels channels = channels_of_pair(encoding, 1);
    return std::pair(channels.first, channels.second);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(sinusoidal(Layout::interleaved, First::sin), Pair(2, 3));
  EXPECT_EQ(sinusoidal(Layout::interleaved, First::cos), Pair(3, 2));
  EXPECT_EQ(sinusoidal(Layout::concatenated, First::sin), Pair(1, 5));
  EXPECT_EQ(sinusoidal(Layout::concatenated, First::cos), Pair(5, 1));

  Rope rope;
  rope.head_dim = 8;
  rope.rotary_dim = 4;
  EXPECT_EQ(channels_of_pair(rope, Pairing::half, 1).second, 3);
  EXPECT_EQ(channels_of_pair(rope, Pairing::interleaved, 1).first, 2);
  rope.rotary_layout = RotaryLayout::spread;
  EXPECT_EQ(channels_of_pair(rope, Pairing::half, 1).second, 5);
}

TEST(Channels, PassedThroughAreTheOthers) {
  Rope rope;
  rope.head_dim = 8;
  rope.rotary_dim = 4;
  const auto outputs = [](const Rope& encoding) {
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    for (const Passthrough& channel : passthrough_channels(encoding)) list.emplace_back(channel.output, channel.input);
    return list;
  };
  using List = std::vector<std::pair<std::int64_t, std::int64_t>>;
  EXPECT_EQ(outputs(rope), (List{{4, 4}, {5, 5}, {6, 6}, {7, 7}}));
  rope.rotary_layout = RotaryLayout::spread;
  EXPECT_EQ(outputs(rope), (List{{2, 2}, {6, 6}, {3, 3}, {7, 7}}));
  // Frequency 0 or not, the pairs move from the input's pairing to the output's.
  rope.pairing = Pairing::interleaved;
  EXPECT_EQ(outputs(rope), (List{{2, 4}, {6, 5}, {3, 6}, {7, 7}}));
}

}  // namespace
}  // namespace sextant::spec_parse_test
