#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numbers>
#include <set>
#include <string>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/model/family.hpp"
#include "reference/rope.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::rope_scaling_test {
namespace {

// A plain float32 implementation of each scaling rule, as the code that models are run with has it: the frequencies in
// float32, the scalars of a rule in double, the attention factor multiplied into the table.
struct Table {
  std::vector<float> frequencies;
  double attention_factor;
};

struct Plain {
  const Rope& rope;
  std::int64_t length;
  double theta = rope.rope_theta;

  double width() const { return static_cast<double>(rotary_width(rope)); }

  template <class Change>
  std::vector<float> frequencies(double base, Change change) const {
    std::vector<float> list;
    for (std::int64_t i = 0; i < pairs(rope); ++i) {
      const auto exponent = static_cast<float>(2 * i) / static_cast<float>(width());
      list.push_back(change(i, 1.0F / std::pow(static_cast<float>(base), exponent)));
    }
    return list;
  }
  Table divided(double by) const {
    return {frequencies(theta, [by](std::int64_t, float w) { return w / static_cast<float>(by); }), 1};
  }
  Table with_base(double stretch) const {
    return {frequencies(theta * std::pow(stretch, width() / (width() - 2)), [](std::int64_t, float w) { return w; }),
            1};
  }

  Table operator()(const DefaultScaling&) const { return divided(1); }
  Table operator()(const NoTurning&) const { return {}; }
  Table operator()(const LinearScaling& linear) const { return divided(linear.factor); }
  Table operator()(const ProportionalScaling& proportional) const { return divided(proportional.factor); }
  Table operator()(const NtkScaling& ntk) const { return with_base(ntk.factor); }
  Table operator()(const DynamicScaling& dynamic) const {
    const auto limit = static_cast<double>(dynamic.original_max_position_embeddings);
    return with_base(dynamic.factor * std::max(static_cast<double>(length), limit) / limit - (dynamic.factor - 1));
  }
  Table operator()(const YarnScaling& yarn) const {
    const auto end = [&](double turns) {
      return width() *
             std::log(static_cast<double>(yarn.original_max_position_embeddings) / (turns * 2 * std::numbers::pi)) /
             (2 * std::log(theta));
    };
    double low = end(yarn.beta_fast);
    double high = end(yarn.beta_slow);
    if (yarn.truncate == Truncate::yes) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0);
    high = std::min(high, width() - 1);
    const double scale =
        yarn.attention_factor.value_or(yarn.mscale ? (0.1 * *yarn.mscale * std::log(yarn.factor) + 1) /
                                                         (0.1 * *yarn.mscale_all_dim * std::log(yarn.factor) + 1)
                                                   : 0.1 * std::log(yarn.factor) + 1);
    return {frequencies(theta,
                        [&](std::int64_t i, float w) {
                          const float ramp = std::clamp(
                              (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low), 0.0F,
                              1.0F);
                          const float kept = 1 - ramp;
                          return w / static_cast<float>(yarn.factor) * (1 - kept) + w * kept;
                        }),
            scale};
  }
  Table operator()(const LongropeScaling& longrope) const {
    const auto& list =
        length > longrope.original_max_position_embeddings ? longrope.long_factor : longrope.short_factor;
    return {frequencies(theta, [&](std::int64_t i,
                                   float w) { return w / static_cast<float>(list[static_cast<std::size_t>(i)]); }),
            std::sqrt(1 + std::log(*longrope.factor) /
                              std::log(static_cast<double>(longrope.original_max_position_embeddings)))};
  }
  Table operator()(const Llama3Scaling& llama3) const {
    const auto old = static_cast<float>(llama3.original_max_position_embeddings);
    const auto low = static_cast<float>(llama3.low_freq_factor);
    const auto high = static_cast<float>(llama3.high_freq_factor);
    const auto factor = static_cast<float>(llama3.factor);
    return {frequencies(theta,
                        [&](std::int64_t, float w) {
                          const float wavelength = 2 * std::numbers::pi_v<float> / w;
                          if (wavelength < old / high) return w;
                          if (wavelength > old / low) return w / factor;
                          const float smooth = (old / wavelength - low) / (high - low);
                          return (1 - smooth) * w / factor + smooth * w;
                        }),
            1};
  }
};

// What is changed in the spec that the subject goes by, and in what it makes of a call.
struct Defect {
  std::function<void(Rope&)> misread = [](Rope&) {};
  std::int64_t added_to_length = 0;
  std::function<double(double)> attention_factor = [](double a) { return a; };
};

FunctionSubject plain_subject(const Defect& defect) {
  return {"plain", of<Rope>([defect](const Spec&, const Rope& encoding) -> FunctionSubject::Call {
            return [defect, rope = encoding](std::string_view, const Tensors& inputs) mutable -> Tensors {
              defect.misread(rope);
              const Tensor& x = inputs.at("x");
              const std::vector<std::int64_t> positions = inputs.at("positions").integers();
              const std::int64_t length = reference::sequence_length(positions) + defect.added_to_length;
              const Table table = std::visit(Plain{rope, length}, rope.rope_scaling);
              const auto scale = static_cast<float>(defect.attention_factor(table.attention_factor));
              Tensor y = x;
              for (std::int64_t vector = 0; vector < x.elements() / rope.head_dim; ++vector) {
                const std::int64_t p = positions[static_cast<std::size_t>(vector / x.shape[2])];
                for (std::int64_t i = 0; i < pairs(rope); ++i) {
                  const float angle = static_cast<float>(p) * table.frequencies[static_cast<std::size_t>(i)];
                  const float cosine = std::cos(angle) * scale;
                  const float sine = std::sin(angle) * scale;
                  const Channels channels = channels_of_pair(rope, rope.pairing, i);
                  const auto a = static_cast<float>(x.at(vector * rope.head_dim + channels.first));
                  const auto b = static_cast<float>(x.at(vector * rope.head_dim + channels.second));
                  y.set(vector * rope.head_dim + channels.first, static_cast<double>(a * cosine - b * sine));
                  y.set(vector * rope.head_dim + channels.second, static_cast<double>(a * sine + b * cosine));
                }
              }
              return {{"y", y}};
            };
          })};
}

std::map<Verdict, std::set<std::string>> verdicts(const std::vector<Property>& properties, const Subject& subject,
                                                  const Spec& spec) {
  AuditOptions options;
  options.profile = Profile::quick;
  options.threads = 2;
  std::map<Verdict, std::set<std::string>> ids;
  for (const PropertyResult& result : audit(properties, subject, spec, options).results) {
    EXPECT_NE(result.verdict, Verdict::undecided) << result.id << ": " << result.reason;
    ids[result.verdict].insert(result.id);
  }
  return ids;
}

std::map<Verdict, std::set<std::string>> verdicts(const Subject& subject, const Spec& spec) {
  std::vector<Property> binding = catalogue();  // advice is not what these tests are about
  std::erase_if(binding, [](const Property& property) { return property.level == Level::advice; });
  return verdicts(binding, subject, spec);
}

std::set<std::string> with_verdict(Verdict verdict, const Subject& subject, const Spec& spec) {
  return verdicts(subject, spec)[verdict];
}

Spec with_rule(const std::string& rule, const std::string& more = "") {
  return parse_spec(R"({"encoding":"rope","head_dim":64,"rope_scaling":)" + rule + more + "}");
}

const std::string longrope = [] {
  std::string shorter = "1";
  std::string longer = "1.05";
  for (int i = 1; i < 32; ++i) {
    shorter += ",1." + std::to_string(i);
    longer += "," + std::to_string(1 + i) + ".25";
  }
  return R"({"rope_type":"longrope","factor":32,"original_max_position_embeddings":4096,"short_factor":[)" + shorter +
         R"(],"long_factor":[)" + longer + "]}";
}();

const Spec yarn = with_rule(R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096})");

class ScalingRule : public testing::TestWithParam<std::string> {};

TEST_P(ScalingRule, ThePlainFloat32RecipeIsAccepted) {
  EXPECT_EQ(with_verdict(Verdict::violated, plain_subject({}), with_rule(GetParam())), std::set<std::string>{});
}

TEST_P(ScalingRule, TheUnscaledEncodingIsConvicted) {
  Defect defect;
  defect.misread = [](Rope& rope) { rope.rope_scaling = DefaultScaling{}; };
  EXPECT_TRUE(with_verdict(Verdict::violated, plain_subject(defect), with_rule(GetParam())).contains("accuracy"));
}

TEST_P(ScalingRule, TheBuiltinIsCorrectlyRounded) {
  for (const std::string dtype : {"float64", "float32", "float16", "bfloat16"}) {
    const Spec spec = with_rule(GetParam(), R"(,"accuracy":"correctly-rounded","dtype":")" + dtype + "\"");
    EXPECT_TRUE(verdicts({*property_named("accuracy")}, *builtin_subject(), spec)[Verdict::holds].contains("accuracy"))
        << dtype;
  }
}

TEST_P(ScalingRule, TheBuiltinViolatesNothing) {
  const Spec spec = with_rule(GetParam(), R"(,"accuracy":"correctly-rounded")");
  EXPECT_EQ(with_verdict(Verdict::violated, *builtin_subject(), spec), std::set<std::string>{});
}

INSTANTIATE_TEST_SUITE_P(
    Rules, ScalingRule,
    testing::Values(R"({"rope_type":"linear","factor":8})", R"({"rope_type":"ntk","factor":8})",
                    R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":4096})",
                    R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096})",
                    R"({"rope_type":"yarn","factor":32,"original_max_position_embeddings":4096,)"
                    R"("truncate":false,"mscale":0.7,"mscale_all_dim":1.5})",
                    longrope,
                    R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,)"
                    R"("low_freq_factor":1,"high_freq_factor":4})",
                    R"({"rope_type":"proportional","factor":3})"));

TEST(ScalingRuleDefect, AnAttentionFactorLeftOutIsConvicted) {
  Defect defect;
  defect.attention_factor = [](double) { return 1.0; };
  const std::set<std::string> killers = with_verdict(Verdict::violated, plain_subject(defect), yarn);
  EXPECT_TRUE(killers.contains("accuracy"));
  EXPECT_TRUE(killers.contains("isometry"));
}

TEST(ScalingRuleDefect, ARampRoundedOtherwiseIsConvicted) {
  Defect defect;
  defect.misread = [](Rope& rope) { std::get<YarnScaling>(rope.rope_scaling).truncate = Truncate::no; };
  EXPECT_TRUE(with_verdict(Verdict::violated, plain_subject(defect), yarn).contains("accuracy"));
}

// One call length decides it: that of the border itself, which is always among the cases.
TEST(ScalingRuleDefect, ALongListTakenOneTooEarlyIsConvicted) {
  Defect defect;
  defect.added_to_length = 1;
  EXPECT_TRUE(with_verdict(Verdict::violated, plain_subject(defect), with_rule(longrope)).contains("accuracy"));
}

TEST(ScalingRuleReach, PrefixesAreComparedWhereTheLengthDoesNotMatter) {
  EXPECT_TRUE(
      with_verdict(Verdict::not_applicable, plain_subject({}), with_rule(longrope)).contains("prefix_consistency"));
  EXPECT_TRUE(with_verdict(Verdict::holds, plain_subject({}), with_rule(longrope, R"(,"max_position":4096)"))
                  .contains("prefix_consistency"));
}

// What ignores the field is parameter_liveness's matter, unless the claim has a rule.
TEST(LinearScaling, SaysNothingOfAnIgnoredRuleThatTheClaimLeavesOut) {
  const FunctionSubject plain("plain", [](const Spec& asked) -> FunctionSubject::Call {
    Spec unscaled = asked;
    std::get<Rope>(unscaled.encoding).rope_scaling = DefaultScaling{};
    const std::shared_ptr<Session> session = builtin_subject()->open(unscaled);
    return [session](std::string_view operation, const Tensors& inputs) { return session->call(operation, inputs); };
  });
  const auto result_under = [&](const char* claim) {
    return audit({*property_named("linear_scaling")}, plain, parse_spec(claim), {}).results.front();
  };
  const PropertyResult without = result_under(R"({"encoding":"rope","head_dim":8})");
  EXPECT_EQ(without.verdict, Verdict::unsupported);
  EXPECT_EQ(without.reason, "the subject ignores rope_scaling, which the claim leaves out");
  const PropertyResult with =
      result_under(R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"linear","factor":4}})");
  EXPECT_EQ(with.verdict, Verdict::violated);
  EXPECT_TRUE(with.simplest->finding.starts_with("scaling by 2 changes nothing")) << with.simplest->finding;
}

}  // namespace
}  // namespace sextant::rope_scaling_test
