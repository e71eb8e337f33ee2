// Over 400 lines: a list of honest implementations, each read alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>

#include "lib/spec/of.hpp"
#include "properties/catalogue.hpp"
#include "properties/edited_test.hpp"
#include "properties/engine/engine.hpp"
#include "properties/model/question.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/recipe_subject.hpp"
#include "reference/work_limit.hpp"
#include "subjects/builtin.hpp"
#include "subjects/equally_spaced.hpp"
#include "subjects/function.hpp"
#include "subjects/operations.hpp"

// What honest implementations do and must not be convicted of, nor asked about.

namespace sextant::false_alarms_test {
namespace {

std::map<std::string, PropertyResult> audited(const Subject& subject, const Spec& spec, AuditOptions options = {}) {
  options.profile = Profile::quick;
  options.threads = 2;
  std::map<std::string, PropertyResult> results;
  for (const PropertyResult& result : audit(catalogue(), subject, spec, options).results) results[result.id] = result;
  return results;
}

std::set<std::string> with_verdict(const std::map<std::string, PropertyResult>& results, Verdict verdict) {
  std::set<std::string> ids;
  for (const auto& [id, result] : results) {
    if (result.verdict == verdict) ids.insert(id);
  }
  return ids;
}

// x * cos + rotate_half(x) * sin over the whole head, cos 1 and sin 0 in the channels that are not rotated: -0 * 1 + 0
// * 0 = +0.
TEST(FalseAlarms, ZerosOfChannelsThatAreNotRotatedMayLoseTheirSign) {
  for (const char* text :
       {R"({"encoding":"rope","head_dim":32,"rotary_dim":8})",
        R"({"encoding":"rope","head_dim":16,"rotary_dim":4,"rotary_layout":"spread","dtype":"bfloat16"})",
        R"({"encoding":"rope","head_dim":16,"rotary_dim":4,"accuracy":"exact-angle"})"}) {
    const Edited subject(builtin_subject(), [](std::string_view, const Tensors&, Tensors& reply) {
      for (auto& [name, tensor] : reply) {
        for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, tensor.at(i) + 0.0);
      }
    });
    const auto results = audited(subject, parse_spec(text));
    EXPECT_EQ(with_verdict(results, Verdict::violated), std::set<std::string>{})
        << text << results.at("accuracy").worst->finding;
    EXPECT_EQ(results.at("accuracy").verdict, Verdict::holds);
  }
  // What is not the sign of a zero is still convicted: a last place in a channel that is not rotated.
  const Edited changed(builtin_subject(), [](std::string_view operation, const Tensors&, Tensors& reply) {
    if (operation != "rotate") return;
    Tensor& y = reply.at("y");
    for (std::int64_t i = 31; i < y.elements(); i += 32) y.set(i, std::nextafter(static_cast<float>(y.at(i)), 1e30F));
  });
  const auto results = audited(changed, parse_spec(R"({"encoding":"rope","head_dim":32,"rotary_dim":8})"));
  EXPECT_EQ(results.at("accuracy").verdict, Verdict::violated);
  EXPECT_EQ(results.at("untouched_channels").verdict, Verdict::violated);
}

// All positions of a window far out share one code, lawfully under the class. The exact tier is not asked at all.
TEST(FalseAlarms, SharedCodesOfLowPrecisionAreLawfulAndToldApartQuickly) {
  AuditOptions options;
  options.steps = 1;
  for (const auto& [recipe, claim] :
       {std::pair{"bfloat16-angle",
                  R"({"encoding":"sinusoidal","dim":128,"dtype":"bfloat16","accuracy":"bfloat16-angle"})"},
        std::pair{"float16-angle", R"({"encoding":"sinusoidal","dim":128,"dtype":"float16",)"
                                   R"("accuracy":"float16-angle","max_position":65504})"}}) {
    const PropertyResult result =
        audit({uniqueness_property()}, *mutants::open_recipe(recipe), parse_spec(claim), options).results.front();
    EXPECT_EQ(result.verdict, Verdict::holds) << result.reason;
    EXPECT_EQ(result.cases, 207);
  }
  // The same codes under a claim that tells the positions apart are convicted, of two positions that have one code.
  const PropertyResult result = audit({uniqueness_property()}, *mutants::open_recipe("bfloat16-angle"),
                                      parse_spec(R"({"encoding":"sinusoidal","dim":128,"dtype":"bfloat16"})"), options)
                                    .results.front();
  EXPECT_EQ(result.verdict, Verdict::violated);
  EXPECT_NE(result.simplest->finding.find("have the same code"), std::string::npos) << result.simplest->finding;
}

// Code that computes in bfloat16, as Hugging Face's does, is told which claim it meets; so is none that meets neither.
TEST(FalseAlarms, AnEvaluationInTheDtypeIsAClaimOfItsOwn) {
  const auto accuracy_of = [](const Subject& subject, const char* evaluation) {
    const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":32,"dtype":"bfloat16","max_position":4096)" +
                                 std::string(evaluation) + "}");
    AuditOptions options;
    options.profile = Profile::quick;
    return audit({*property_named("accuracy")}, subject, spec, options).results.front();
  };
  const auto in_bfloat16 = mutants::open_recipe("float32");
  EXPECT_EQ(accuracy_of(*in_bfloat16, R"(,"evaluation":"dtype")").verdict, Verdict::holds);
  const PropertyResult strict = accuracy_of(*in_bfloat16, "");
  EXPECT_EQ(strict.verdict, Verdict::violated);
  const std::string_view told = R"(within the bound of "evaluation": "dtype")";
  EXPECT_NE(strict.worst->finding.find(told), std::string::npos) << strict.worst->finding;
  EXPECT_EQ(accuracy_of(*mutants::open_recipe("float32-widened"), "").verdict, Verdict::holds);
  const auto cast_table = mutants::open_recipe("cast-table");
  EXPECT_EQ(accuracy_of(*cast_table, R"(,"evaluation":"table")").verdict, Verdict::holds);
  EXPECT_EQ(accuracy_of(*in_bfloat16, R"(,"evaluation":"table")").verdict, Verdict::violated);
  const PropertyResult of_table = accuracy_of(*cast_table, "");
  EXPECT_EQ(of_table.verdict, Verdict::violated);
  EXPECT_NE(of_table.worst->finding.find(R"(within the bound of "evaluation": "table")"), std::string::npos)
      << of_table.worst->finding;
  const PropertyResult wrong = accuracy_of(*mutants::open_recipe("bfloat16-angle"), "");
  EXPECT_EQ(wrong.worst->finding.find(told), std::string::npos) << wrong.worst->finding;
}

// A table in fixed point: right to half its last bit, so that a small sine has no correct digit. 4 ULP of 1 are 2^-21.
TEST(FalseAlarms, ATableInFixedPointIsWithinPairNorm) {
  const auto audited_under = [&](const std::string& accuracy, double scale, double last_bit) {
    const Edited fixed_point(builtin_subject(), [last_bit](std::string_view operation, const Tensors&, Tensors& reply) {
      if (operation != "encode") return;
      Tensor& table = reply.at("encoding");
      for (std::int64_t i = 0; i < table.elements(); ++i) table.set(i, std::round(table.at(i) / last_bit) * last_bit);
    });
    const Spec spec = parse_spec(fmt::format(
        R"({{"encoding":"sinusoidal","dim":64,"max_position":8192,"scale":{},"accuracy":"{}"}})", scale, accuracy));
    std::vector<Property> of_values;
    for (const char* id :
         {"accuracy", "unit_circle", "linear_shift", "similarity", "uniqueness", "frequencies", "bounds"})
      of_values.push_back(*property_named(id));
    AuditOptions options;
    options.profile = Profile::quick;
    options.threads = 2;
    std::map<std::string, PropertyResult> results;
    for (const PropertyResult& result : audit(of_values, fixed_point, spec, options).results)
      results[result.id] = result;
    return results;
  };
  for (const double scale : {1.0, 16.0}) {
    EXPECT_EQ(with_verdict(audited_under("pair-norm", scale, scale * 0x1p-21), Verdict::violated),
              std::set<std::string>());
    EXPECT_EQ(audited_under("exact-angle", scale, scale * 0x1p-21).at("accuracy").verdict, Verdict::violated);
    EXPECT_EQ(audited_under("pair-norm", scale, scale * 0x1p-19).at("accuracy").verdict, Verdict::violated);
  }
}

// Rows that differ in the sign of a zero alone are one code.
TEST(FalseAlarms, TheSignOfAZeroMakesNoOtherCode) {
  const FunctionSubject zeros("zeros", [](const Spec&) -> FunctionSubject::Call {
    return [](std::string_view, const Tensors& inputs) -> Tensors {
      const std::vector<std::int64_t> positions = inputs.at("positions").integers();
      Tensor table = Tensor::zeros(Dtype::float32, {std::ssize(positions), 2});
      for (std::int64_t row = 0; row < std::ssize(positions); ++row)
        table.set(2 * row, positions[static_cast<std::size_t>(row)] % 2 == 0 ? 0.0 : -0.0);
      return {{"encoding", table}};
    };
  });
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":2,"max_position":2})");
  EXPECT_EQ(audit({uniqueness_property()}, zeros, spec, {}).results.front().verdict, Verdict::violated);
}

// Correct under wrong frequencies, formed as the class has it: only what is about frequencies may say so.
TEST(FalseAlarms, WrongFrequenciesAreNoFaultOfWhatHoldsForAny) {
  const auto turned = [](const std::function<double(std::int64_t pair, std::int64_t count)>& frequency) {
    const auto make = [frequency](const Spec&, const Rope& head) -> FunctionSubject::Call {
      std::vector<float> frequencies;
      for (std::int64_t pair = 0; pair < pairs(head); ++pair)
        frequencies.push_back(static_cast<float>(frequency(pair, pairs(head))));
      return [frequencies, head](std::string_view operation, const Tensors& inputs) -> Tensors {
        const Tensor& x = inputs.at(operation == "rotate" ? "x" : "grad");
        const std::vector<std::int64_t> positions = inputs.at("positions").integers();
        Tensor y = x;
        const std::int64_t heads = x.shape[2];
        for (std::int64_t token = 0; token < std::ssize(positions); ++token) {
          const float position =
              static_cast<float>(positions[static_cast<std::size_t>(token)]) * (operation == "rotate" ? 1.0F : -1.0F);
          for (std::int64_t pair = 0; pair < pairs(head); ++pair) {
            const auto angle = static_cast<double>(position * frequencies[static_cast<std::size_t>(pair)]);
            const double c = std::cos(angle);
            const double s = std::sin(angle);
            const Channels at = channels_of_pair(head, head.pairing, pair);
            for (std::int64_t vector = token * heads; vector < (token + 1) * heads; ++vector) {
              const double x0 = x.at(vector * head.head_dim + at.first);
              const double x1 = x.at(vector * head.head_dim + at.second);
              y.set(vector * head.head_dim + at.first, x0 * c - x1 * s);
              y.set(vector * head.head_dim + at.second, x0 * s + x1 * c);
            }
          }
        }
        return {{operation == "rotate" ? "y" : "grad_x", y}};
      };
    };
    return FunctionSubject("own frequencies", of<Rope>(make));
  };
  const auto plain = [](std::int64_t pair, std::int64_t count) {
    return std::pow(10000.0, -static_cast<double>(pair) / static_cast<double>(count));
  };
  const std::set<std::string> blameless{"isometry",  "identity_at_zero", "composition",        "relative_offset",
                                        "linearity", "adjoint",          "prefix_consistency", "row_independence"};
  const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":64})");
  AuditOptions options;
  options.threads = 2;
  const auto violated = [&](const std::function<double(std::int64_t, std::int64_t)>& frequency) {
    std::set<std::string> ids;
    for (const PropertyResult& result : audit(catalogue(), turned(frequency), spec, options).results) {
      if (is_violated_law(result)) ids.insert(result.id);
    }
    return ids;
  };
  EXPECT_EQ(violated(plain), std::set<std::string>{});
  const std::set<std::string> of_frequencies{"accuracy", "frequencies", "rotation_gradient"};
  // Frequency 0 a thousandth slow; every exponent one pair on; the base of another model; one frequency for all pairs.
  EXPECT_EQ(
      violated([&](std::int64_t pair, std::int64_t count) { return pair == 0 ? 0.99902442 : plain(pair, count); }),
      of_frequencies);
  EXPECT_EQ(violated([&](std::int64_t pair, std::int64_t count) { return plain(pair + 1, count); }), of_frequencies);
  EXPECT_EQ(violated([](std::int64_t pair, std::int64_t count) {
              return std::pow(500.0, -static_cast<double>(pair) / static_cast<double>(count));
            }),
            of_frequencies);
  EXPECT_EQ(violated([](std::int64_t, std::int64_t) { return 0.7310585786300049; }), of_frequencies);
}

// Wrong under a changed field in the first answers, an error in a later one.
TEST(FalseAlarms, AWrongAnswerIsNotForgottenForALaterRefusal) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":8,"max_position":1000})");
  // Does not read `first`, and has no table for positions beyond 500 of another claim than its own.
  const FunctionSubject hard_coded("hard-coded", [spec](const Spec& asked) -> FunctionSubject::Call {
    Spec read = asked;
    std::get<Sinusoidal>(read.encoding).first = First::sin;
    const std::shared_ptr<Session> session = builtin_subject()->open(read);
    return
        [session, own = to_json(asked) == to_json(spec)](std::string_view operation, const Tensors& inputs) -> Tensors {
          const std::vector<std::int64_t> positions = inputs.at("positions").integers();
          if (!own && !positions.empty() && std::ranges::max(positions) > 500)
            throw SubjectFailure(FailureKind::error, "no such position");
          return session->call(operation, inputs);
        };
  });
  AuditOptions options;
  options.profile = Profile::quick;
  const PropertyResult result = audit({parameter_liveness_property()}, hard_coded, spec, options).results.front();
  EXPECT_EQ(result.verdict, Verdict::violated) << result.reason;
  // One that refuses every changed field has done right.
  const FunctionSubject honest("honest", [spec](const Spec& asked) -> FunctionSubject::Call {
    if (to_json(asked) != to_json(spec)) throw SubjectFailure(FailureKind::unsupported, "not made for that");
    const std::shared_ptr<Session> session = builtin_subject()->open(spec);
    return [session](std::string_view operation, const Tensors& inputs) -> Tensors {
      return session->call(operation, inputs);
    };
  });
  EXPECT_EQ(audit({parameter_liveness_property()}, honest, spec, options).results.front().verdict, Verdict::holds);
}

// Where a position of the question may lie on each axis.
struct Claim {
  std::int64_t first;
  std::int64_t last;
};
std::vector<Claim> claims_of(const Spec& spec) {
  std::vector<Claim> claims(static_cast<std::size_t>(axes_of(spec.encoding)),
                            Claim{spec.min_position, spec.max_position});
  const auto cut = [&](const auto& encoding) {
    if (const auto* grid = std::get_if<Sinusoidal2d>(&encoding)) {
      claims[0].last = std::min(claims[0].last, grid->height);
      claims[1].last = std::min(claims[1].last, grid->width);
    }
    const auto cut_to = [&](const std::vector<std::int64_t>& extents) {
      for (std::size_t axis = 0; axis < extents.size(); ++axis)
        claims[axis].last = std::min(claims[axis].last, extents[axis]);
    };
    if (const auto* places = std::get_if<SinusoidalNd>(&encoding)) cut_to(places->extents);
    if (const auto* patches = std::get_if<RopeNd>(&encoding)) cut_to(patches->extents);
    if (const auto* features = std::get_if<Fourier>(&encoding)) cut_to(features->extents);
    if constexpr (std::is_same_v<std::decay_t<decltype(encoding)>, Encoding>) {
      if (const auto* offsets = std::get_if<LogCoordinates>(&encoding)) {
        cut_to(offsets->window);
        for (std::size_t axis = 0; axis < claims.size(); ++axis)
          claims[axis].first = std::max(claims[axis].first, 1 - offsets->window[axis]);
      }
    }
  };
  cut(spec.encoding);
  if (const auto* attention = std::get_if<Attention>(&spec.encoding); attention != nullptr && attention->position)
    cut(*attention->position);
  return claims;
}

// Rotary attention over two hundred positions, the claim's accuracy and first position given.
Spec rotary_attention(std::string_view accuracy, std::int64_t first, std::int64_t count) {
  return parse_spec(fmt::format(
      R"({{"encoding":"attention","num_heads":2,"head_dim":8,"accuracy":"{}","min_position":{},"max_position":{},)"
      R"("position":{{"encoding":"rope","head_dim":8}}}})",
      accuracy, first, first + count));
}

// Where the bound is wider than what positions change, that they change nothing seen is nobody's fault.
TEST(FalseAlarms, PositionsThatNoBoundLetsShowAreNotMissed) {
  const std::unique_ptr<Subject> ours = builtin_subject();
  for (const Spec& spec :
       {rotary_attention("bfloat16-angle", 10000, 200), rotary_attention("float32-angle", 100000000, 200)}) {
    const PropertyResult result = audited(*ours, spec)["permutation_equivariance"];
    EXPECT_EQ(result.verdict, Verdict::not_applicable);
    EXPECT_NE(result.reason.find("the bound hides it"), std::string::npos) << result.reason;
    EXPECT_GT(result.cases, 40);
  }
}

TEST(FalseAlarms, ShortClaimsOfAttentionAreAskedOrSetAside) {
  const std::unique_ptr<Subject> ours = builtin_subject();
  EXPECT_EQ(audited(*ours, rotary_attention("float32-angle", 5, 16))["joint_permutation"].verdict,
            Verdict::not_applicable);
  for (const std::int64_t count : {17, 18, 22, 30, 48}) {
    const auto results = audited(*ours, rotary_attention("float32-angle", -7, count));
    for (const char* id : {"permutation_equivariance", "joint_permutation", "position_shift"}) {
      EXPECT_EQ(results.at(id).verdict, Verdict::holds) << id << " of " << count;
      EXPECT_GE(results.at(id).cases, 40) << id << " of " << count;
    }
  }
}

TEST(FalseAlarms, NoQuestionLeavesTheClaim) {
  for (const char* text :
       {R"({"encoding":"sinusoidal_2d","dim":8,"height":9,"width":30,"min_position":1})",
        R"({"encoding":"sinusoidal_2d","dim":8,"height":30,"width":9,"min_position":8})",
        R"({"encoding":"sinusoidal_2d","dim":8,"height":50,"width":60,"min_position":3,"max_position":11})",
        R"({"encoding":"sinusoidal_nd","dim":12,"extents":[9,30,4],"min_position":1})",
        R"({"encoding":"sinusoidal_nd","dim":8,"extents":[20,3],"coordinates":"normalized","min_position":2})",
        R"({"encoding":"fourier","bands":3,"coordinates":"ends","extents":[9,30,4],"min_position":1})",
        R"({"encoding":"fourier","bands":3,"ladder":"weight","coordinates":"centres","extents":[20,3],)"
        R"("min_position":2})",
        R"({"encoding":"fourier","bands":3,"axes":2,"min_position":-9,"max_position":-2})",
        R"({"encoding":"rope_nd","head_dim":16,"sections":[3,3,2],"min_position":5,"max_position":40})",
        R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"min_position":-9,"max_position":-2})",
        R"({"encoding":"rope","head_dim":8,"min_position":3,"max_position":70})",
        R"({"encoding":"rope","head_dim":8,"min_position":-70,"max_position":-3})",
        R"({"encoding":"rope","head_dim":8,"min_position":3,"max_position":90,)"
        R"("rope_scaling":{"rope_type":"dynamic","factor":4,)"
        R"("original_max_position_embeddings":32}})",
        R"({"encoding":"rope","head_dim":8,"min_position":3,"max_position":90,)"
        R"("rope_scaling":{"rope_type":"linear","factor":4}})",
        R"({"encoding":"rope","head_dim":8,"min_position":3,"max_position":90,)"
        R"("rope_scaling":{"rope_type":"yarn","factor":4,)"
        R"("original_max_position_embeddings":32}})",
        R"({"encoding":"xpos","head_dim":8,"min_position":3,"max_position":70})",
        R"({"encoding":"sinusoidal","dim":8,"min_position":3,"max_position":70})",
        R"({"encoding":"integer","min_position":3,"max_position":70})",
        R"({"encoding":"binary","dim":7,"min_position":3,"max_position":70})",
        R"({"encoding":"learned","dim":3,"max_positions":50,"min_position":3})",
        R"({"encoding":"alibi","num_heads":3,"min_position":3,"max_position":70})",
        R"({"encoding":"relative_bias","min_position":3,"max_position":70})",
        R"({"encoding":"window_bias","window":[5,7],"class_token":"first","min_position":3})",
        R"({"encoding":"log_coordinates","window":[8,12],"min_position":-7,"max_position":8})",
        R"({"encoding":"log_coordinates","window":[12,4,1],"pretrained_window":[8,8,8]})",
        R"({"encoding":"log_coordinates","window":[700,900]})",
        R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"coordinates":"normalized","extents":[14,20]})",
        R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"coordinates":"normalized","extents":[3000,5],)"
        R"("min_position":1})",
        R"({"encoding":"attention","num_heads":2,"head_dim":8,"position":{"encoding":"rope_nd","head_dim":8,)"
        R"("sections":[2,2],"coordinates":"normalized","extents":[5,9]}})",
        R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,)"
        R"("min_position":3,"max_position":70,"position":{"encoding":"rope_nd",)"
        R"("head_dim":8,"sections":[2,2]}})",
        R"({"encoding":"attention","num_heads":2,"head_dim":8,"min_position":2,)"
        R"("position":{"encoding":"sinusoidal_2d","dim":16,"height":9,"width":20}})"}) {
    const Spec spec = parse_spec(text);
    for (const Property& property : catalogue()) {
      // Advice about what lies beyond, and properties that open the subject under claims of their own.
      if (property.not_applicable(spec) || property.id == "out_of_range" || property.id == "parameter_liveness" ||
          property.id == "siblings" || property.id == "neutral_scaling" || property.id == "linear_scaling")
        continue;
      std::set<std::string> outside;
      const Edited watched(builtin_subject(), [&](std::string_view, const Tensors& inputs, Tensors&) {
        const std::vector<Claim> claims = claims_of(spec);
        for (const char* name : {"positions", "query_positions", "key_positions"}) {
          if (!inputs.contains(name)) continue;
          const std::vector<std::int64_t> positions = inputs.at(name).integers();
          for (std::size_t i = 0; i < positions.size(); ++i) {
            const Claim& claim = claims[i * claims.size() / positions.size()];
            if (positions[i] < claim.first || positions[i] >= claim.last)
              outside.insert(std::to_string(positions[i]) + " in " + std::to_string(claim.first) + " to " +
                             std::to_string(claim.last));
          }
        }
      });
      AuditOptions options;
      options.profile = Profile::quick;
      const PropertyResult result = audit({property}, watched, spec, options).results.front();
      // These look beyond the claim, and convict nobody of what they see there.
      if (property.id != "history" && property.id != "extrapolation" && property.id != "below_claim") {
        EXPECT_EQ(outside, std::set<std::string>{}) << property.id << " of " << text;
      }
      EXPECT_NE(result.verdict, Verdict::violated)
          << property.id << " of " << text << ": " << (result.simplest ? result.simplest->finding : "");
    }
  }
}

// The encoder's overloads for ranges and for lists: an audit of builtin meets both, in calls of more than one row.
TEST(FalseAlarms, AnAuditOfBuiltinAsksThroughRangesAndLists) {
  struct Calls {
    int of_ranges = 0;
    int of_lists = 0;
  };
  std::map<std::string, Calls> asked;
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":8})");
  for (const Property& property : catalogue()) {
    if (property.not_applicable(spec)) continue;
    Calls& calls = asked[property.id];
    const Edited watched(builtin_subject(), [&](std::string_view operation, const Tensors& inputs, Tensors&) {
      if (operation != "encode" || inputs.at("positions").elements() < 3) return;
      ++(equally_spaced(inputs.at("positions").integers()) ? calls.of_ranges : calls.of_lists);
    });
    AuditOptions options;
    options.profile = Profile::quick;
    audit({property}, watched, spec, options);
  }
  for (const char* property : {"accuracy", "uniqueness"}) {
    EXPECT_GT(asked.at(property).of_ranges, 0) << property;
    EXPECT_GT(asked.at(property).of_lists, 0) << property;
  }
  EXPECT_GT(asked.at("row_independence").of_lists, 0);
}

// A bias grows with the square of a call's tokens, and with the heads: a call of 4097 tokens of 112 heads would be of
// seven GiB.
TEST(FalseAlarms, CallsOfManyHeadsFitIntoMemory) {
  const Spec spec = parse_spec(R"({"encoding":"alibi","num_heads":112,"max_position":8192})");
  std::int64_t most = 0;
  const Edited watched(builtin_subject(), [&](std::string_view, const Tensors&, Tensors& reply) {
    for (const auto& [name, tensor] : reply) most = std::max(most, std::ssize(tensor.data));
  });
  AuditOptions options;
  options.profile = Profile::quick;
  audit(catalogue(), watched, spec, options);
  EXPECT_GT(most, 1 << 20);
  EXPECT_LE(most, 1 << 26);
}

}  // namespace
}  // namespace sextant::false_alarms_test
