// Lists with an entry for each layer or stage, where a file has another number of them. Each refusal is one that
// transformers 5.24 makes of the same file, at the latest when its model is built.

#include <gtest/gtest.h>

#include <string>

#include "lib/spec/hf_config.hpp"

namespace sextant::hugging_face_lists_test {
namespace {

void expect_refused(const std::string& config, const std::string& field) {
  try {
    static_cast<void>(claims_of_hf_config(config));
    ADD_FAILURE() << config << " was read";
  } catch (const SpecError& error) {
    EXPECT_NE(std::string(error.what()).find(field + ": "), std::string::npos) << error.what();
  }
}

std::string layers_of(const std::string& model_type, const std::string& lists) {
  return R"({"model_type":")" + model_type + R"(","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":4,)" +
         lists + "}";
}

TEST(Lists, SmolLm3KeepsAnEmptyListAndFails) {
  expect_refused(layers_of("smollm3", R"("no_rope_layers":[])"), "no_rope_layers");
  expect_refused(layers_of("smollm3", R"("no_rope_layers":[1,1,0])"), "no_rope_layers");
  expect_refused(layers_of("smollm3", R"("no_rope_layers":[1,1,0,1,1])"), "no_rope_layers");
}

TEST(Lists, Llama4TakesAnEmptyListForItsPattern) {
  const auto claims =
      claims_of_hf_config(layers_of("llama4_text", R"("head_dim":16,"num_key_value_heads":4,"no_rope_layers":[])"));
  EXPECT_EQ(claims.at(0).layers, (std::vector<std::int64_t>{0, 1, 2}));
}

TEST(Lists, LayerTypesHaveAnEntryForEachLayerOfAnyType) {
  for (const char* type : {"llama", "bert", "gemma3_text", "deberta-v2"}) {
    for (const char* listed : {"[]", R"(["full_attention"])"})
      expect_refused(layers_of(type, std::string(R"("layer_types":)") + listed), "layer_types");
  }
}

TEST(Lists, SwinsHaveHeadsForEachStage) {
  const auto swin = [](const std::string& lists) {
    return R"({"model_type":"swin","image_size":224,"patch_size":4,"window_size":7,)" + lists + "}";
  };
  expect_refused(swin(R"("depths":[2,2,6,2,2])"), "num_heads");
  expect_refused(swin(R"("depths":[2,2,6,2],"num_heads":[3,6,12])"), "num_heads");
  EXPECT_TRUE(claims_of_hf_config(swin(R"("depths":[2,2,6],"num_heads":[3,6,12,24])")).at(0).spec);
}

}  // namespace
}  // namespace sextant::hugging_face_lists_test
