#include "lib/spec/presets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "lib/spec/hf_config.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::spec_presets_test {
namespace {

// A preset of a published model, and the config.json that it was published with.
struct Published {
  const char* preset;
  const char* file;
  const char* part = "";
  const char* kind = "";
};

constexpr Published published[] = {
    {"gpt-j-6b", "gpt-j-6b"},
    {"gpt-neox-20b", "gpt-neox-20b"},
    {"llama-2-7b", "llama-2-7b"},
    {"llama-3-8b", "llama-3-8b"},
    {"llama-3.1-8b", "llama-3.1-8b"},
    {"qwen2.5-7b-yarn", "qwen2.5-7b-instruct-yarn"},
    {"deepseek-v3", "deepseek-v3"},
    {"qwen2-vl-7b", "qwen2-vl-7b", "text_config"},
    {"qwen2-vl-7b-vision", "qwen2-vl-7b", "vision_config"},
    {"qwen3.5-27b", "qwen3.5-27b", "text_config"},
    {"pixtral-vision", "mistral-small-3.1-24b", "vision_config"},
    {"llama-4-vision", "llama-4-scout-17b-16e", "vision_config", "rotation"},
    {"gemma-4-vision", "gemma-4-e2b-it", "vision_config", "rotation"},
    {"dinov3-vit-b16", "dinov3-vitb16"},
    {"mpt-7b", "mpt-7b"},
    {"smollm3-3b-nope", "smollm3-3b", "", "no_rope"},
    {"llama-4-scout-nope", "llama-4-scout-17b-16e", "text_config", "no_rope"},
    {"llama-4-scout-query-scale", "llama-4-scout-17b-16e", "text_config", "query_scale"},
    {"ministral-3-8b-query-scale", "ministral-3-8b-2512-text", "", "query_scale"},
    {"falcon-rw-1b", "falcon-rw-1b"},
    {"swin-tiny", "swin-tiny-patch4-window7-224"},
    {"beit-base", "beit-base-patch16-224"},
    {"swinv2-tiny-window8", "swinv2-tiny-patch4-window8-256", "", "stage1"},
    {"swinv2-base-window12to24", "swinv2-base-patch4-window12to24-192to384", "", "stage1"},
    {"t5-small", "t5-small", "", "encoder"},
    {"mae-vit-base", "vit-mae-base", "", "encoder"},
};

// Presets are in float32, and T5's files say no length.
void expect_equal(Spec preset, Spec claim) {
  claim.dtype = preset.dtype;
  claim.evaluation = preset.evaluation;
  if (preset.encoding.index() == claim.encoding.index() && encoding_name(preset) == "relative_bias")
    claim.max_position = preset.max_position;
  EXPECT_EQ(to_json(preset), to_json(claim));
}

TEST(Presets, AreWhatTheirModelsConfigurationsSay) {
  for (const auto& [name, file, part, kind] : published) {
    SCOPED_TRACE(name);
    const auto preset = preset_named(name);
    ASSERT_TRUE(preset);
    std::ifstream stream(std::filesystem::path(SEXTANT_SOURCE_DIR) / "ci/model_configs/configs" /
                         (std::string(file) + ".json"));
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const auto claims = claims_of_hf_config(text);
    // Qwen2-VL's first files have the text's fields at top level.
    const auto found = std::ranges::find_if(claims, [&](const ConfigClaim& claim) {
      const bool is_part = claim.part == part || (claim.part.empty() && std::string_view(part) == "text_config");
      return is_part && (std::string_view(kind).empty() || claim.kind == kind);
    });
    ASSERT_NE(found, claims.end());
    ASSERT_TRUE(found->spec) << found->refusal;
    expect_equal(parse_spec(preset->json), *found->spec);
  }
}

}  // namespace
}  // namespace sextant::spec_presets_test
