#include "lib/spec/hf_config.hpp"

#include <gtest/gtest.h>

namespace sextant {
namespace {

Rope rope_of(const char* json) { return std::get<Rope>(spec_from_hf_config(json).encoding); }

TEST(HfConfig, ReadsAnOldStyleLlama) {
  const Spec spec = spec_from_hf_config(
      R"({"model_type":"llama","hidden_size":4096,"num_attention_heads":32,"max_position_embeddings":4096,"rope_theta":10000.0,
          "rope_scaling":null,"torch_dtype":"float16","vocab_size":32000,"architectures":["LlamaForCausalLM"]})");
  const auto& rope = std::get<Rope>(spec.encoding);
  EXPECT_EQ(rope.head_dim, 128);
  EXPECT_EQ(rope.rotary_dim, 128);
  EXPECT_EQ(rope.pairing, Pairing::half);
  EXPECT_EQ(spec.max_position, 4096);
  EXPECT_EQ(spec.dtype, Dtype::float16);
}

TEST(HfConfig, ReadsRopeParametersOfTransformersFive) {
  const Rope rope = rope_of(
      R"({"head_dim":64,"hidden_size":4096,"num_attention_heads":32,
          "rope_parameters":{"rope_type":"default","rope_theta":500000.0,"partial_rotary_factor":0.5}})");
  EXPECT_EQ(rope.head_dim, 64);
  EXPECT_EQ(rope.rotary_dim, 32);
  EXPECT_EQ(rope.rope_theta, 500000);
}

TEST(HfConfig, ReadsGptNeoxAndGptJ) {
  EXPECT_EQ(rope_of(R"({"model_type":"gpt_neox","hidden_size":6144,"num_attention_heads":64,"rotary_pct":0.25})").rotary_dim, 24);
  const Rope gptj = rope_of(R"({"model_type":"gptj","n_embd":4096,"n_head":16,"rotary_dim":64,"n_positions":2048})");
  EXPECT_EQ(gptj.head_dim, 256);
  EXPECT_EQ(gptj.rotary_dim, 64);
  EXPECT_EQ(gptj.pairing, Pairing::interleaved);
}

TEST(HfConfig, RefusesWhatItDoesNotKnow) {
  EXPECT_THROW(spec_from_hf_config(R"({"head_dim":64,"rope_scaling":{"rope_type":"warp"}})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"head_dim":64,"rope_scaling":{"type":"default","factor":2}})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"hidden_size":100,"num_attention_heads":3})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"vocab_size":1})"), SpecError);
  EXPECT_THROW(spec_from_hf_config(R"({"text_config":{"head_dim":64}})"), SpecError);
}

}  // namespace
}  // namespace sextant
