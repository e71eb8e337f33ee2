#include <gtest/gtest.h>

#include <functional>

#include "properties/catalogue.hpp"
#include "properties/edited_test.hpp"
#include "properties/engine/engine.hpp"
#include "subjects/builtin.hpp"

// Gradients of attention and of tables: right ones are well inside their bounds, wrong ones outside.

namespace sextant::attention_gradient_test {
namespace {

PropertyResult result_of(const std::string& property, const Subject& subject, const Spec& spec) {
  AuditOptions options;
  options.profile = Profile::quick;
  options.counterexamples = Counterexamples::not_sought;
  return audit({*property_named(property)}, subject, spec, options).results.front();
}

TEST(AttentionGradient, OfTheBuiltinEncoderHoldsForEveryPosition) {
  for (const char* position :
       {"null", R"({"encoding":"rope","head_dim":16})",
        R"({"encoding":"rope","head_dim":16,"rotary_dim":8,"pairing":"interleaved","output_pairing":"half"})",
        R"({"encoding":"rope_nd","head_dim":16,"sections":[2,3,3]})", R"({"encoding":"xpos","head_dim":16})",
        R"({"encoding":"alibi","num_heads":4})", R"({"encoding":"relative_bias"})"}) {
    for (const char* dtype : {"float32", "float64"}) {
      const Spec spec =
          parse_spec(std::string(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,)") +
                     R"("causal":true,"max_position":2048,"dtype":")" + dtype + R"(","position":)" + position + "}");
      const PropertyResult result = result_of("attention_gradient", *builtin_subject(), spec);
      EXPECT_EQ(result.verdict, Verdict::holds) << position << dtype << result.worst->finding;
    }
  }
}

// A relative 0.004 is found: the bound means something.
TEST(AttentionGradient, OfTheBuiltinHoldsWhereQueriesAreScaled) {
  for (const char* dtype : {"float32", "float64", "bfloat16"}) {
    const Spec spec = parse_spec(
        std::string(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"causal":true,)") +
        R"("max_position":2048,"query_scale":{"amount":1,"period":16,"offset":1},)" +
        R"("position":{"encoding":"rope","head_dim":16},"dtype":")" + dtype + R"("})");
    const PropertyResult result = result_of("attention_gradient", *builtin_subject(), spec);
    EXPECT_EQ(result.verdict, Verdict::holds) << dtype << result.worst->finding;
  }
}

TEST(AttentionGradient, IsLostByWhatIsOffByFourThousandths) {
  for (const char* name : {"grad_q", "grad_k", "grad_v"}) {
    const Edited wrong(builtin_subject(), [name](std::string_view operation, const Tensors&, Tensors& reply) {
      if (operation != "backward") return;
      Tensor& values = reply.at(name);
      for (std::int64_t i = 0; i < values.elements(); ++i) values.set(i, values.at(i) * 1.004);
    });
    for (const char* text : {R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16})",
                             R"({"encoding":"attention","num_heads":4,"head_dim":64,"causal":true,
             "position":{"encoding":"rope","head_dim":64}})"}) {
      EXPECT_EQ(result_of("attention_gradient", wrong, parse_spec(text)).verdict, Verdict::violated) << name << text;
    }
  }
}

TEST(ScatterGradient, OfTheBuiltinEncodersHolds) {
  for (const char* text :
       {R"({"encoding":"learned","dim":8,"max_positions":600})", R"({"encoding":"relative_bias","max_position":4096})",
        R"({"encoding":"relative_bias","bidirectional":false,"dtype":"bfloat16"})",
        R"({"encoding":"learned","dim":8,"max_positions":600,"dtype":"float16"})",
        R"({"encoding":"relative_bias","dtype":"float64"})"}) {
    const PropertyResult result = result_of("scatter_gradient", *builtin_subject(), parse_spec(text));
    EXPECT_EQ(result.verdict, Verdict::holds) << text << result.worst->finding;
  }
}

}  // namespace
}  // namespace sextant::attention_gradient_test
