#include "lib/spec/hugging_face/qwen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::hugging_face_qwen_test {
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
  EXPECT_EQ(rule.length_scope, LengthScope::row);
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

// Qwen-7B's with a field, which replaces its own where it has that.
std::string with(const std::string& field, const std::string& value) {
  std::string config = qwen_7b;
  const std::size_t start = config.find("\"" + field + "\"");
  if (start != std::string::npos) config.erase(start, config.find(',', start) + 1 - start);
  return config.insert(1, "\"" + field + "\":" + value + ",");
}

std::vector<ConfigClaim> claims_with(const std::string& field, const std::string& value) {
  return claims_of_hf_config(with(field, value));
}

TEST(HfConfigOfQwen, TakesNullSwitchesForFalseAndRefusesOtherNulls) {
  EXPECT_EQ(claims_with("use_logn_attn", "null").size(), 1);
  const auto steady = claims_with("use_dynamic_ntk", "null");
  EXPECT_TRUE(std::holds_alternative<DefaultScaling>(std::get<Rope>(steady[0].spec->encoding).rope_scaling));
  for (const char* field : {"rotary_pct", "rotary_emb_base", "kv_channels", "seq_length", "hidden_size",
                            "num_attention_heads", "num_hidden_layers", "max_position_embeddings", "bf16", "fp16"})
    EXPECT_NE(refusal_of(with(field, "null").c_str()).find("got null"), std::string::npos) << field;
}

TEST(HfConfigOfQwen, ReadsTheDtypeThatItsCodeCastsTo) {
  const auto half = claims_with("fp16", "true");
  EXPECT_EQ(half[0].spec->dtype, Dtype::float16);
  EXPECT_EQ(half[0].spec->evaluation, Evaluation::float32);
  EXPECT_EQ(half[1].spec->dtype, Dtype::float16);
  EXPECT_EQ(half[1].spec->evaluation, Evaluation::dtype);
  EXPECT_EQ(claims_with("bf16", "true")[0].spec->dtype, Dtype::bfloat16);
  const auto has_note = [](const std::vector<ConfigClaim>& claims, std::string_view words) {
    return std::ranges::any_of(claims[0].notes, [&](const std::string& note) { return note.find(words) != note.npos; });
  };
  EXPECT_FALSE(has_note(half, "none of bf16"));
  EXPECT_TRUE(has_note(claims_of_hf_config(qwen_7b), "none of bf16, fp16 and fp32 is true"));
  EXPECT_TRUE(has_note(claims_with("use_cache_quantization", "true"), "8 bits"));
  const std::string both = with("fp16", "true").insert(1, "\"fp32\":true,");
  EXPECT_NE(refusal_of(both.c_str()).find("fp32: true beside fp16"), std::string::npos) << refusal_of(both.c_str());
  const std::string other = with("fp16", "true").insert(1, "\"torch_dtype\":\"bfloat16\",");
  EXPECT_NE(refusal_of(other.c_str()).find("fp16: true contradicts bfloat16"), std::string::npos);
}

TEST(HfConfigOfQwen, RefusesWhatItsCodeFailsWith) {
  EXPECT_NE(refusal_of(with("seq_length", "1").c_str()).find("seq_length: expected an integer from 2"),
            std::string::npos);
  EXPECT_NE(refusal_of(with("rotary_pct", "0.015625").c_str()).find("rotary_pct"), std::string::npos);
  EXPECT_NE(refusal_of(with("n_embd", "4096").c_str()).find("n_embd: a name of the first release"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"model_type":"qwen","seq_length":2048,"use_logn_attn":true})").find("use_dynamic_ntk"),
            std::string::npos);
}

TEST(HfConfigOfQwen, RefusesWhatItsCodeContradicts) {
  EXPECT_NE(refusal_of(R"({"model_type":"qwen"})").find("seq_length: required"), std::string::npos)
      << refusal_of(R"({"model_type":"qwen"})");
  EXPECT_NE(refusal_of(R"({"model_type":"qwen","seq_length":2048,"kv_channels":64})")
                .find("kv_channels: expected hidden_size / num_attention_heads, 4096 / 32, got 64"),
            std::string::npos);
}

}  // namespace
}  // namespace sextant::hugging_face_qwen_test
