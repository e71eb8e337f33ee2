// Values of a type that transformers 5.24 does not take, each as measured of the same file; values.json has those that
// classes refuse of every field.

#include <gtest/gtest.h>

#include <string>

#include "lib/spec/hf_config.hpp"

namespace sextant::hugging_face_value_types_test {
namespace {

std::string llama(const std::string& fields) {
  return R"({"model_type":"llama","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":2,)" + fields + "}";
}

void expect_refused(const std::string& config, const std::string& message) {
  try {
    static_cast<void>(claims_of_hf_config(config));
    ADD_FAILURE() << config << " was read";
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
  }
}

TEST(ValueTypes, ASizeIsAnInteger) {
  expect_refused(llama(R"("max_position_embeddings":32768.0)"),
                 "max_position_embeddings: expected an integer, got 32768.0");
  expect_refused(llama(R"("num_key_value_heads":"4")"), R"(num_key_value_heads: expected an integer, got "4")");
  expect_refused(llama(R"("pad_token_id":true)"), "pad_token_id: expected an integer, got true");
  expect_refused(R"({"model_type":"llama","head_dim":16,"num_attention_heads":0})",
                 "num_attention_heads: expected an integer of at least 1, got 0");
}

TEST(ValueTypes, WithinARuleAFloatMayBeWhole) {
  const auto claims = claims_of_hf_config(
      llama(R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":8192.0})"));
  EXPECT_NE(to_json(*claims.at(0).spec).find(R"("original_max_position_embeddings":8192)"), std::string::npos);
}

TEST(ValueTypes, ANullIsNoNameOfARule) {
  expect_refused(llama(R"("rope_scaling":{"rope_type":null,"type":"linear","factor":4.0})"),
                 "rope_scaling.rope_type: expected a string, got null");
  EXPECT_TRUE(
      claims_of_hf_config(llama(R"("rope_scaling":{"rope_type":"linear","type":null,"factor":4.0})")).at(0).spec);
}

TEST(ValueTypes, ADtypeIsATorchName) {
  expect_refused(llama(R"("torch_dtype":"torch.bfloat16")"), "torch_dtype: expected one of float32");
}

TEST(ValueTypes, KindsOfLayersAreKnown) {
  for (const char* type : {"llama", "bert", "qwen3_next"}) {
    const auto layers = [&](const std::string& kinds) {
      return R"({"model_type":")" + std::string(type) + R"(","num_hidden_layers":2,"layer_types":)" + kinds + "}";
    };
    expect_refused(layers(R"(["full_attention","x"])"), R"(layer_types: expected kinds of layers that transformers)");
    expect_refused(layers(R"(["full_attention",1])"), "layer_types: expected kinds");
    expect_refused(layers(R"("full_attention")"), "layer_types: expected a list of strings");
  }
}

TEST(ValueTypes, OlderNamesOfLayersAreRead) {
  const auto claims = claims_of_hf_config(
      R"({"model_type":"qwen3_next","num_hidden_layers":4,"layer_types":["mamba","mamba","mamba","attention"]})");
  EXPECT_EQ(claims.at(0).layers, std::vector<std::int64_t>{3});
}

}  // namespace
}  // namespace sextant::hugging_face_value_types_test
