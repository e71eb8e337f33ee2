#include <gtest/gtest.h>

#include <string>

#include "lib/numeric/environment_test.hpp"
#include "lib/spec/hf_config.hpp"
#include "lib/spec/spec.hpp"

namespace sextant::spec_hf_config_environment_test {
namespace {

// A ratio and a product of a config's numbers decide what it claims.
TEST(StandardArithmetic, ModelsConfigsAreReadInIt) {
  const auto read = [](const char* text) {
    try {
      return to_json(spec_from_hf_config(text));
    } catch (const SpecError& error) {
      return std::string(error.what());
    }
  };
  for (const char* text : {R"({"model_type":"phi","hidden_size":200,"num_attention_heads":1,
                               "partial_rotary_factor":0.29,"max_position_embeddings":4096})",
                           R"({"model_type":"llama","hidden_size":64,"num_attention_heads":1,"rope_theta":10000.1,
                               "max_position_embeddings":131071,"original_max_position_embeddings":4099,
                               "rope_scaling":{"rope_type":"yarn","beta_slow":5e-324}})"}) {
    const std::string expected = read(text);
    for (const Environment& environment : environments()) {
      EXPECT_EQ(in(environment, [&] { return read(text); }), expected) << environment.name;
    }
  }
}

}  // namespace
}  // namespace sextant::spec_hf_config_environment_test
