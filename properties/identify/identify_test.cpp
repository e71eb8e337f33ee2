#include "properties/identify/identify.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "lib/spec/of.hpp"
#include "properties/identify/round_numbers.hpp"
#include "properties/mutants/recipe_subject.hpp"
#include "reference/recipe_answer.hpp"
#include "reference/rope_scaling.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_test {
namespace {

class Draw {
 public:
  explicit Draw(std::uint32_t seed) : engine_(seed) {}

  template <class Value>
  Value one_of(const std::vector<Value>& values) {
    return values[engine_() % values.size()];
  }
  bool once_in(std::uint32_t times) { return engine_() % times == 0; }

 private:
  std::mt19937 engine_;
};

// Values of 16 bits do not tell a base of five digits.
double drawn_base(Draw& draw, Dtype dtype) {
  if (is_16_bit(dtype)) return draw.one_of<double>({10000, 10000, 500000, 1e6, 5e6, 1e7, 150000, 20000, 8e6});
  return draw.one_of<double>({10000, 10000, 500000, 1e6, 5e6, 1e7, 150000, 20000, 8e6, 25600, 12345});
}

RopeScaling drawn_rule(Draw& draw, Dtype dtype) {
  const auto factor = draw.one_of<double>({2, 4, 8, 16, 32, 40});
  const auto length = draw.one_of<std::int64_t>({1024, 2048, 4096, 8192, 32768});
  switch (draw.one_of<int>({0, 0, 1, 2, 3, 4, 5})) {
    case 1: return LinearScaling{factor};
    case 2: return DynamicScaling{factor, length};
    case 3: {
      YarnScaling yarn;
      yarn.factor = factor;
      yarn.original_max_position_embeddings = length;
      if (draw.once_in(3)) yarn.truncate = Truncate::no;
      if (draw.once_in(5)) yarn.attention_factor = 1;
      return yarn;
    }
    case 4: return Llama3Scaling{factor, 8192, 1, draw.one_of<double>({4, 4, 8})};
    case 5: {
      // 16-bit values do not tell a factor of each pair.
      if (is_16_bit(dtype)) return DefaultScaling{};
      LongropeScaling longrope;
      longrope.original_max_position_embeddings = length;
      longrope.factor = factor;
      return longrope;
    }
    default: return DefaultScaling{};
  }
}

Spec drawn_rope(Draw& draw) {
  Spec spec;
  spec.dtype = draw.one_of<Dtype>({Dtype::float32, Dtype::float32, Dtype::bfloat16, Dtype::float16});
  Rope rope;
  rope.head_dim = draw.one_of<std::int64_t>({64, 80, 96, 128, 256});
  rope.rotary_dim = draw.once_in(3) ? rope.head_dim / 2 : rope.head_dim;
  rope.rope_theta = drawn_base(draw, spec.dtype);
  rope.pairing = draw.one_of<Pairing>({Pairing::half, Pairing::interleaved});
  rope.output_pairing = draw.once_in(6) ? Pairing::half : rope.pairing;
  if (rope.rotary_dim < rope.head_dim)
    rope.rotary_layout = draw.one_of<RotaryLayout>({RotaryLayout::prefix, RotaryLayout::suffix, RotaryLayout::spread});
  if (draw.once_in(5)) rope.direction = Direction::clockwise;
  if (rope.rotary_layout != RotaryLayout::spread) rope.rope_scaling = drawn_rule(draw, spec.dtype);
  if (auto* longrope = std::get_if<LongropeScaling>(&rope.rope_scaling)) {
    // A base is told from the factors by their being round.
    rope.rope_theta = draw.one_of<double>({10000, 500000, 1e6});
    for (std::int64_t i = 0; i < rope.rotary_dim / 2; ++i) {
      const auto x = static_cast<double>(i);
      longrope->short_factor.push_back(1 + std::round(3 * x) / 100);
      longrope->long_factor.push_back(1 + std::round(7 * x * x) / 100);
    }
  }
  spec.encoding = rope;
  return spec;
}

Spec drawn_table(Draw& draw) {
  Spec spec;
  spec.dtype = draw.one_of<Dtype>({Dtype::float32, Dtype::float32, Dtype::bfloat16, Dtype::float16});
  Sinusoidal table;
  table.dim = draw.one_of<std::int64_t>({32, 64, 128, 320, 512});
  table.base = drawn_base(draw, spec.dtype);
  table.layout = draw.one_of<Layout>({Layout::interleaved, Layout::concatenated});
  table.first = draw.one_of<First>({First::sin, First::cos});
  if (draw.once_in(4)) table.downscale_freq_shift = 1;
  if (draw.once_in(6)) table.position_offset = draw.one_of<std::int64_t>({1, 2});
  spec.encoding = table;
  return spec;
}

std::vector<std::string_view> recipes_of(const Spec& spec) {
  std::vector<std::string_view> names;
  for (const reference::Recipe& recipe : reference::recipes()) {
    // Angles of another 16-bit format than the values' are nobody's.
    if (recipe.angle == Dtype::bfloat16 && spec.dtype != Dtype::bfloat16) continue;
    if (recipe.angle == Dtype::float16 && spec.dtype != Dtype::float16) continue;
    // Slowed frequencies are 0 in float16: another function.
    const auto* rope = held<Rope>(spec);
    if (recipe.angle == Dtype::float16 && rope != nullptr && rope->rope_scaling.index() != 0) continue;
    if (!reference::recipe_not_known(recipe, spec)) names.push_back(recipe.name);
  }
  return names;
}

// Whether two ropes are the same function, whatever their fields: pairs, frequencies at every length, magnitude.
bool is_same_function(const Rope& a, const Rope& b) {
  if (a.rotary_dim != b.rotary_dim || a.direction != b.direction) return false;
  for (std::int64_t i = 0; i < pairs(a); ++i) {
    const auto is_same = [](const Channels& x, const Channels& y) {
      return x.first == y.first && x.second == y.second;
    };
    if (!is_same(channels_of_pair(a, a.pairing, i), channels_of_pair(b, b.pairing, i)) ||
        !is_same(channels_of_pair(a, a.output_pairing, i), channels_of_pair(b, b.output_pairing, i)))
      return false;
  }
  reference::RopeFrequencies of_a(a);
  reference::RopeFrequencies of_b(b);
  for (const std::int64_t length : {1, 1000, 5000, 20000, 131072}) {
    const auto is_near = [](double x, double y) { return std::fabs(x - y) <= 1e-12 * y; };
    for (std::int64_t i = 0; i < pairs(a); ++i) {
      if (!is_near(of_a.radians(i, length, reference::first_precision).upper(),
                   of_b.radians(i, length, reference::first_precision).upper()))
        return false;
    }
    if (!is_near(of_a.attention_factor(length, reference::first_precision).upper(),
                 of_b.attention_factor(length, reference::first_precision).upper()))
      return false;
  }
  return true;
}

bool is_exact(const Spec& claim, const Identification& found) {
  if (!found.spec) return false;
  const auto* claimed = held<Rope>(claim);
  const auto* named = held<Rope>(*found.spec);
  if (claimed != nullptr && named != nullptr) return is_same_function(*claimed, *named);
  Spec own = *found.spec;
  own.accuracy = claim.accuracy;
  own.evaluation = claim.evaluation;
  return to_json(own) == to_json(claim);
}

// What is asked where nothing is known but the size and the dtype.
Spec plain_probe(const Spec& claim) {
  Spec probe = claim;
  if (const auto* rope = held<Rope>(claim)) {
    Rope plain;
    plain.head_dim = plain.rotary_dim = rope->head_dim;
    probe.encoding = plain;
  } else {
    Sinusoidal plain;
    plain.dim = held<Sinusoidal>(claim)->dim;
    probe.encoding = plain;
  }
  return probe;
}

// In each run of the tests 40; SEXTANT_IDENTIFY_DRAWS asks for more.
int draws() {
  const char* const asked = std::getenv("SEXTANT_IDENTIFY_DRAWS");
  return asked != nullptr ? std::atoi(asked) : 40;
}

TEST(Identify, NamesDrawnClaimsThroughTheirRecipes) {
  int exact = 0;
  int sure = 0;
  std::string missed;
  const int count = draws();
  for (int i = 0; i < count; ++i) {
    Draw draw(static_cast<std::uint32_t>(i));
    const Spec claim = draw.once_in(3) ? drawn_table(draw) : drawn_rope(draw);
    ASSERT_NO_THROW(validate(claim)) << to_json(claim);
    const std::string recipe(draw.one_of(recipes_of(claim)));
    const FunctionSubject subject("fixed", [&](const Spec&) -> FunctionSubject::Call {
      return mutants::recipe_call(reference::recipe_named(recipe), claim);
    });
    const Identification found = identify(subject, plain_probe(claim));
    const bool named = is_exact(claim, found);
    exact += named ? 1 : 0;
    sure += found.confidence == Confidence::high ? 1 : 0;
    const std::string told =
        recipe + " of " + describe(claim) + ": " + (found.spec ? describe(*found.spec) : "unidentified");
    EXPECT_LT(found.calls, 200) << told;
    EXPECT_TRUE(named || found.confidence != Confidence::high) << told;
    if (!named) missed += "\n" + told;
  }
  EXPECT_GE(exact * 100, count * 99) << exact << " of " << count << missed;
  EXPECT_GE(sure * 100, count * 60) << sure << " of " << count;
}

// A subject that obeys its spec is asked under another one: the name must be that of what it computes.
std::string identified(const std::string& computed, const std::string& probe) {
  const Spec spec = parse_spec(computed);
  const auto builtin = builtin_subject();
  const FunctionSubject subject("fixed", [&](const Spec&) -> FunctionSubject::Call {
    std::shared_ptr<Session> session = builtin->open(spec);
    return [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
  });
  const Identification found = identify(subject, parse_spec(probe));
  return found.spec && found.confidence == Confidence::high ? describe(*found.spec) : "not sure";
}

// What a rope of this JSON, computed with frequencies of float64 or rounded to float32, is found to be.
Identification found_of(const std::string& computed, std::string_view recipe) {
  const Spec claim = parse_spec(computed);
  const FunctionSubject subject("fixed", [&](const Spec&) -> FunctionSubject::Call {
    return mutants::recipe_call(reference::recipe_named(std::string(recipe)), claim);
  });
  return identify(subject, parse_spec(R"({"encoding":"rope","head_dim":128})"));
}

bool has(const std::vector<std::string>& lines, const std::string& part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

TEST(Identify, ABaseIsNamedForSureOnlyWhereNoOtherIsAsLikely) {
  const std::string odd = R"({"encoding":"rope","head_dim":128,"rope_theta":8000009})";
  const Identification exact = found_of(odd, "float64");
  EXPECT_EQ(exact.confidence, Confidence::high);
  EXPECT_EQ(describe(*exact.spec), describe(parse_spec(odd)));
  const Identification rounded = found_of(odd, "float32");
  EXPECT_EQ(rounded.confidence, Confidence::medium);
  EXPECT_TRUE(has(rounded.seen, "base 8000000 +- ")) << rounded.seen.back();
}

TEST(Identify, ParametersSeenAsQuotientsAloneAreNamedWithTheirFamily) {
  const Identification llama3 = found_of(
      R"({"encoding":"rope","head_dim":128,"rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,)"
      R"("original_max_position_embeddings":4000,"low_freq_factor":1.25,"high_freq_factor":3.5}})",
      "float64");
  EXPECT_EQ(llama3.confidence, Confidence::medium);
  EXPECT_TRUE(has(llama3.equal, "low_freq_factor L / 3200 and high_freq_factor L / 1142.857143"));
  const Identification yarn =
      found_of(R"({"encoding":"rope","head_dim":128,"rope_scaling":{"rope_type":"yarn","factor":4,)"
               R"("original_max_position_embeddings":4096}})",
               "float64");
  EXPECT_EQ(yarn.confidence, Confidence::high);
  EXPECT_TRUE(has(yarn.equal, "beta_fast L / 128 and beta_slow L / 4096; under these two betas with any L from "));
  const Identification odd_yarn =
      found_of(R"({"encoding":"rope","head_dim":128,"rope_scaling":{"rope_type":"yarn","factor":4,)"
               R"("original_max_position_embeddings":6000,"beta_fast":20,"beta_slow":2,"truncate":false}})",
               "float64");
  EXPECT_NE(odd_yarn.confidence, Confidence::high);
}

TEST(Identify, NamesBiases) {
  const std::string alibi = R"({"encoding":"alibi","num_heads":12,"mask":"symmetric","slopes":"geometric"})";
  EXPECT_EQ(identified(alibi, R"({"encoding":"alibi","num_heads":12})"), describe(parse_spec(alibi)));
  const std::string bloom = R"({"encoding":"alibi","num_heads":16,"form":"key_index","slope_dtype":"bfloat16"})";
  EXPECT_EQ(identified(bloom, R"({"encoding":"alibi","num_heads":16})"), describe(parse_spec(bloom)));
  const std::string mpt = R"({"encoding":"alibi","num_heads":40,"bias_max":16,"dtype":"bfloat16"})";
  EXPECT_EQ(identified(mpt, R"({"encoding":"alibi","num_heads":40,"dtype":"bfloat16"})"), describe(parse_spec(mpt)));
  const std::string t5 = R"({"encoding":"relative_bias","num_buckets":32,"max_distance":512,"bidirectional":false})";
  EXPECT_EQ(identified(t5, R"({"encoding":"relative_bias","num_buckets":32})"), describe(parse_spec(t5)));
  const std::string deberta = R"({"encoding":"relative_bias","buckets":"log","num_buckets":512,"max_distance":512})";
  EXPECT_EQ(identified(deberta, R"({"encoding":"relative_bias","num_buckets":512,"max_distance":1000})"),
            describe(parse_spec(deberta)));
  const std::string clipped = R"({"encoding":"relative_bias","buckets":"clipped","num_buckets":64})";
  EXPECT_EQ(identified(clipped, R"({"encoding":"relative_bias","num_buckets":64})"), describe(parse_spec(clipped)));
}

TEST(Identify, NamesRotaryTables) {
  const std::string cache =
      R"({"encoding":"rotary_table","head_dim":128,"rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,)"
      R"("original_max_position_embeddings":8192,"low_freq_factor":1,"high_freq_factor":4}})";
  EXPECT_EQ(identified(cache, R"({"encoding":"rotary_table","head_dim":128})"), describe(parse_spec(cache)));
}

TEST(Identify, NamesWhatTurnsNothing) {
  const std::string none = R"({"encoding":"rope","head_dim":64,"rope_scaling":{"rope_type":"none"}})";
  const std::string plain = R"({"encoding":"rope","head_dim":64})";
  EXPECT_EQ(identified(none, plain), describe(parse_spec(none)));
  EXPECT_EQ(identified(plain, none), describe(parse_spec(plain)));
  const std::string none_of_axes =
      R"({"encoding":"rope_nd","head_dim":32,"sections":[4,6,6],"rope_scaling":{"rope_type":"none"}})";
  const std::string axes = R"({"encoding":"rope_nd","head_dim":32,"sections":[4,6,6]})";
  EXPECT_EQ(identified(axes, none_of_axes), describe(parse_spec(axes)));
}

TEST(RoundNumbers, AreThoseOfTheFewestDigits) {
  EXPECT_EQ(roundest_in({9999.98, 10000.02}).value, 10000);
  EXPECT_EQ(roundest_in({9999.98, 10000.02}).digits, 1);
  EXPECT_EQ(roundest_in({12344.9, 12345.2}).value, 12345);
  EXPECT_EQ(roundest_in({0.6, 1.2}).value, 0.9);
  EXPECT_EQ(roundest_in({0.0999, 0.1001}).value, 0.1);
  EXPECT_TRUE(is_pinned({9999.98, 10000.02}, {10000, 1}));
  // 8000009 is in it too.
  EXPECT_FALSE(is_pinned({7999988, 8000012}, {8000000, 1}));
  EXPECT_FALSE(is_pinned_base({7999988, 8000012}, {8000000, 1}));
  // Llama 3's.
  EXPECT_TRUE(is_pinned_base({499998.8, 500001.2}, {500000, 1}));
  EXPECT_EQ(interval_text("base", 8000000, {7999988, 8000012}, false), "base 8000000 +- 12, the roundest of its range");
  EXPECT_FALSE(is_pinned({9000, 11000}, {10000, 1}));
  EXPECT_EQ(roundest_length_in({8000, 9000})->value, 8192);
  EXPECT_FALSE(roundest_length_in({8000.2, 8000.8}));
}

}  // namespace
}  // namespace sextant::identify::identify_test
