#include "lib/spec/hugging_face/qwen.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sextant {
namespace {

// Qwen/Qwen-7B, config.json, but for what tells nothing of positions.
constexpr const char* qwen_7b =
    R"({"model_type":"qwen","hidden_size":4096,"kv_channels":128,"max_position_embeddings":32768,)"
    R"("num_attention_heads":32,"num_hidden_layers":32,"rotary_emb_base":10000,"rotary_pct":1.0,"seq_length":8192,)"
    R"("use_dynamic_ntk":true,"use_logn_attn":true,"bf16":false,)"
    R"("auto_map":{"AutoConfig":"configuration_qwen.QWenConfig"}})";

std::string refusal_of(const char* config) {
  try {
    return to_json(spec_from_hf_config(config));
  } catch (const SpecError& error) {
    return error.what();
  }
}

TEST(HfConfigOfQwen, ReadsTheStepsOfTheBaseAndTheScaleOfQueries) {
  const auto claims = claims_of_hf_config(qwen_7b);
  ASSERT_EQ(claims.size(), 2);
  EXPECT_EQ(claims[0].kind, "rotation");
  const auto& rope = std::get<Rope>(claims[0].spec->encoding);
  EXPECT_EQ(rope.pairing, Pairing::half);
  EXPECT_EQ(rope.head_dim, 128);
  const auto& rule = std::get<DynamicScaling>(rope.rope_scaling);
  EXPECT_EQ(rule.length_steps, LengthSteps::doublings);
  EXPECT_EQ(rule.factor, 2);
  EXPECT_EQ(rule.original_max_position_embeddings, 8192);
  EXPECT_EQ(claims[1].kind, "query_scale");
  const auto& attention = std::get<Attention>(claims[1].spec->encoding);
  EXPECT_EQ(attention.query_scale->rule, QueryScaleRule::log_n);
  EXPECT_EQ(attention.query_scale->length, 8192);
  EXPECT_EQ(attention.query_scale->offset, 1);
  EXPECT_EQ(claims[1].spec->max_position, 32767);
  EXPECT_EQ(claims[1].layers.size(), 32);
}

// Qwen-72B's: neither.
TEST(HfConfigOfQwen, ReadsOneRuleWhereNeitherIsUsed) {
  const Spec spec = spec_from_hf_config(
      R"({"model_type":"qwen","hidden_size":8192,"kv_channels":128,"max_position_embeddings":32768,)"
      R"("num_attention_heads":64,"rotary_emb_base":1000000,"rotary_pct":0.5,"seq_length":32768,)"
      R"("use_dynamic_ntk":false,"use_logn_attn":false})");
  const auto& rope = std::get<Rope>(spec.encoding);
  EXPECT_TRUE(std::holds_alternative<DefaultScaling>(rope.rope_scaling));
  EXPECT_EQ(rope.rope_theta, 1000000);
  EXPECT_EQ(rope.rotary_dim, 64);
  EXPECT_EQ(spec.max_position, 32768);
}

TEST(HfConfigOfQwen, RefusesWhatItsCodeContradicts) {
  EXPECT_NE(refusal_of(R"({"model_type":"qwen"})").find("seq_length: required"), std::string::npos)
      << refusal_of(R"({"model_type":"qwen"})");
  EXPECT_NE(refusal_of(R"({"model_type":"qwen","seq_length":2048,"kv_channels":64})")
                .find("kv_channels: expected hidden_size / num_attention_heads, 4096 / 32, got 64"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant
