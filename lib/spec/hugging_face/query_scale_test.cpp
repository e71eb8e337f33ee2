#include "lib/spec/hugging_face/query_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace sextant::hugging_face_query_scale_test {
namespace {

const Attention& scaled(const std::vector<ConfigClaim>& claims, std::size_t at) {
  return std::get<Attention>(claims.at(at).spec->encoding);
}

TEST(HfConfigOfScaledQueries, OfLlama4LayersWithoutPositionsScale) {
  const auto claims = claims_of_hf_config(R"({"model_type":"llama4_text","attn_scale":0.25,"dtype":"bfloat16"})");
  ASSERT_EQ(claims.size(), 3);
  EXPECT_EQ(claims[1].kind, "no_rope");
  EXPECT_EQ(claims[2].kind, "query_scale");
  EXPECT_EQ(claims[2].layers, claims[1].layers);
  const Attention& attention = scaled(claims, 2);
  EXPECT_TRUE(attention.causal);
  EXPECT_EQ(attention.num_heads, 40);
  EXPECT_EQ(attention.num_kv_heads, 8);
  EXPECT_EQ(attention.query_scale->amount, 0.25);
  EXPECT_EQ(attention.query_scale->period, 8192);
  EXPECT_EQ(attention.query_scale->offset, 1);
  EXPECT_FALSE(acts_within(attention));
  EXPECT_TRUE(sees_positions(attention));
  EXPECT_EQ(claims[2].spec->evaluation, claims[1].spec->evaluation);
  EXPECT_EQ(claims_of_hf_config(R"({"model_type":"llama4_text","attn_temperature_tuning":false})").size(), 2);
  EXPECT_FALSE(claims_of_hf_config(R"({"model_type":"llama4_text","attn_scale":0.0})").back().spec);
}

TEST(HfConfigOfScaledQueries, OfMinistral3AllLayersScale) {
  const auto claims = claims_of_hf_config(R"({"model_type":"ministral3","sliding_window":4096})");
  ASSERT_EQ(claims.size(), 2);
  EXPECT_EQ(claims[0].kind, "rotation");
  const Attention& attention = scaled(claims, 1);
  EXPECT_EQ(attention.window, 4096);
  EXPECT_EQ(attention.query_scale->period, 16384);
  EXPECT_EQ(attention.query_scale->offset, 0);
  EXPECT_TRUE(acts_within(attention));
}

// 1/sqrt(128) times the square of 0.1 ln 128 + 1.
TEST(HfConfigOfScaledQueries, OfMistral4TheLastHalfOfAHeadTurns) {
  const auto claims = claims_of_hf_config(R"({"model_type":"mistral4"})");
  ASSERT_EQ(claims.size(), 2);
  const Attention& attention = scaled(claims, 1);
  EXPECT_EQ(attention.head_dim, 128);
  const Rope& rope = std::get<Rope>(*attention.position);
  EXPECT_EQ(rope.rotary_dim, 64);
  EXPECT_EQ(rope.rotary_layout, RotaryLayout::suffix);
  EXPECT_NEAR(*attention.softmax_scale, std::pow(0.1 * std::log(128) + 1, 2) / std::sqrt(128), 1e-15);
  const auto other = claims_of_hf_config(R"({"model_type":"mistral4","v_head_dim":64})");
  EXPECT_NE(other[1].refusal.find("values of 64 channels"), std::string::npos);
}

TEST(HfConfigOfScaledQueries, OtherTypesDoNotReadTheField) {
  EXPECT_THROW(claims_of_hf_config(R"({"model_type":"llama","rope_parameters":{"rope_type":"yarn","factor":4,)"
                                   R"("original_max_position_embeddings":2048,"llama_4_scaling_beta":0.1}})"),
               SpecError);
}

}  // namespace
}  // namespace sextant::hugging_face_query_scale_test
