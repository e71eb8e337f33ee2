#include "lib/spec/hugging_face/other_models.hpp"

#include <gtest/gtest.h>

#include <string>

namespace sextant::hugging_face_other_models_test {
namespace {

std::string refusal_of(const char* config, const ConfigChoice& choice = {}) {
  try {
    return to_json(spec_from_hf_config(config, choice));
  } catch (const SpecError& error) {
    return error.what();
  }
}

TEST(HfConfigOfTables, ReadsTheTablesOfTowers) {
  const auto rows = [](const char* json) {
    return std::get<Learned>(spec_from_hf_config(json).encoding).max_positions;
  };
  EXPECT_EQ(rows(R"({"model_type":"clip_vision_model","image_size":336,"patch_size":14})"), 577);
  EXPECT_EQ(rows(R"({"model_type":"vit"})"), 197);
  EXPECT_EQ(rows(R"({"model_type":"dinov2","image_size":[518,518],"patch_size":14})"), 1370);
  EXPECT_EQ(rows(R"({"model_type":"internvl_vision","image_size":[448,448],"patch_size":[14,14]})"), 1025);
  const auto expect = [](const char* config, const char* reason) {
    EXPECT_NE(refusal_of(config).find(reason), std::string::npos) << refusal_of(config);
  };
  expect(R"({"model_type":"vit","image_size":[224,448]})", "image_size: expected an integer or two that are equal");
  expect(R"({"model_type":"clip_vision_model","patch_size":[14,14]})", "patch_size: expected an integer, got [14,14]");
  expect(R"({"model_type":"vit","patch_size":null})", "patch_size: expected an integer, got null");
  expect(R"({"model_type":"internvl_vision","use_absolute_position_embeddings":false})", "has no positions");
  expect(R"({"model_type":"siglip2_vision_model"})", "interpolated to the image");
}

TEST(HfConfigOfTables, ATablesSizeByAnotherClassesNameIsRefused) {
  const auto expect = [](const char* config, const char* reason) {
    EXPECT_NE(refusal_of(config).find(reason), std::string::npos) << refusal_of(config);
  };
  expect(R"({"model_type":"siglip_vision_model","embed_dim":1152})",
         "embed_dim: not read by transformers' siglip_vision_model, which looks for hidden_size");
  expect(R"({"model_type":"bert","n_positions":64})", "n_positions: not read");
  expect(R"({"model_type":"bert","hidden_size":null})", "hidden_size: expected an integer, got null");
  expect(R"({"model_type":"gpt2","n_positions":null})", "n_positions: expected an integer, got null");
  expect(R"({"model_type":"roberta","pad_token_id":null})", "pad_token_id: expected an integer, got null");
  expect(R"({"model_type":"marian","d_model":63})", "d_model: expected an even number, got 63");
  EXPECT_EQ(std::get<Learned>(spec_from_hf_config(R"({"model_type":"gpt2","n_embd":64})").encoding).dim, 64);
  EXPECT_EQ(std::get<Sinusoidal>(spec_from_hf_config(R"({"model_type":"marian","hidden_size":64})").encoding).dim, 64);
}

// Each fails in transformers 5.24, or says what its class does not read.
TEST(HfConfigOfTables, RefusesWhatMixedModelsDoNotTake) {
  const auto expect = [](const char* config, const char* reason) {
    EXPECT_NE(refusal_of(config).find(reason), std::string::npos) << refusal_of(config);
  };
  expect(R"({"model_type":"jamba","num_hidden_layers":1,"layer_types":["attention"]})",
         "layer_types: transformers' jamba fails");
  expect(R"({"model_type":"jamba","attn_layer_offset":8})", "attn_layer_offset: expected an integer from 0 to below");
  expect(R"({"model_type":"bamba","layers_block_type":["attention"]})", "layers_block_type: transformers' bamba fails");
  expect(R"({"model_type":"granitemoehybrid","layers_block_type":["attention"]})", "list the kinds as layer_types");
  expect(R"({"model_type":"hunyuan_v1_dense","hidden_size":64})", "head_dim: required");
  expect(R"({"model_type":"esm"})", "pad_token_id: required");
  expect(R"({"model_type":"esm","position_embedding_type":"rotary","rope_scaling":{"rope_type":"linear","factor":2}})",
         "rope_scaling: not read by transformers' esm");
}

// attribute_map: max_position_embeddings is model_max_length.
TEST(HfConfigOfTables, ReadsTheLengthOfKimiLinearByBothNames) {
  const auto kimi = claims_of_hf_config(
      R"({"model_type":"kimi_linear","linear_attn_config":{"full_attn_layers":[4],"kda_layers":[1,2,3]},)"
      R"("max_position_embeddings":77,"qk_nope_head_dim":128,"qk_rope_head_dim":64})");
  EXPECT_EQ(kimi.front().spec->max_position, 77);
}

TEST(HfConfigOfTables, ReadsBucketsBesideATable) {
  const auto claims = claims_of_hf_config(R"({"model_type":"layoutlmv3","max_rel_pos":64,"pad_token_id":3})");
  ASSERT_EQ(claims.size(), 2U);
  EXPECT_EQ(claims[0].spec->min_position, 4);
  EXPECT_EQ(std::get<RelativeBias>(claims[1].spec->encoding).max_distance, 64);
  const auto without = R"({"model_type":"layoutlmv3","has_relative_attention_bias":false})";
  EXPECT_EQ(claims_of_hf_config(without).size(), 1U);
  EXPECT_NE(
      refusal_of(R"({"model_type":"mpnet","relative_attention_num_buckets":64})").find("64 contradicts transformers'"),
      std::string::npos);
}

// The base that the weights were trained with is not the one that transformers turns by.
TEST(HfConfigOfTables, ADbrxIsRefusedWithTheSpecOfItsOwnBase) {
  const std::string refusal =
      refusal_of(R"({"model_type":"dbrx","d_model":6144,"n_heads":48,"attn_config":{"rope_theta":500000}})");
  const auto begin = refusal.find("--spec '");
  ASSERT_NE(begin, std::string::npos) << refusal;
  const std::string text = refusal.substr(begin + 8, refusal.find("' for the") - begin - 8);
  EXPECT_EQ(std::get<Rope>(parse_spec(text).encoding).rope_theta, 500000);
  EXPECT_NE(refusal_of(R"({"model_type":"dbrx"})").find("rope_theta is required within"), std::string::npos);
}

// nomic-ai/contrastors, modeling_hf_nomic_bert.py, NomicBertAttention: GPT-2's names of sizes, a share of the head.
TEST(HfConfigOfTables, ReadsNomicBertAsItsOwnCodeHasIt) {
  const std::string sizes = R"({"model_type":"nomic_bert","n_embd":768,"n_head":12,"n_layer":12,"n_positions":8192,)"
                            R"("rotary_emb_base":1000,"rotary_emb_scale_base":null,"rotary_emb_fraction":)";
  const Spec spec = spec_from_hf_config(sizes + R"(0.5,"rotary_emb_interleaved":true,"rotary_scaling_factor":null})");
  const auto& rope = std::get<Rope>(spec.encoding);
  EXPECT_EQ(rope.head_dim, 64);
  EXPECT_EQ(rope.rotary_dim, 32);
  EXPECT_EQ(rope.rope_theta, 1000);
  EXPECT_EQ(rope.pairing, Pairing::interleaved);
  EXPECT_EQ(spec.max_position, 8192);
  const auto refusal = [&](const char* rest) { return refusal_of((sizes + rest).c_str()); };
  EXPECT_NE(refusal("1.0,\"rotary_scaling_factor\":2}").find("\"rope_type\":\"dynamic\""), std::string::npos);
  EXPECT_NE(refusal("0.0}").find("rotary_emb_fraction: expected"), std::string::npos);
}

}  // namespace
}  // namespace sextant::hugging_face_other_models_test
