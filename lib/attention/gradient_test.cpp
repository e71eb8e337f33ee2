#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "lib/attention/attention.hpp"
#include "lib/kernels/truth_test.hpp"

namespace sextant::attention_gradient_test {
namespace {

// Of sum_i grad_i attend(inputs)_i, by the quotient of differences.
TEST(AttentionBackward, IsTheQuotientOfDifferences) {
  for (const char* position :
       {"null", R"({"encoding":"rope","head_dim":4,"pairing":"interleaved"})", R"({"encoding":"xpos","head_dim":4})",
        R"({"encoding":"rope_nd","head_dim":4,"sections":[1,1]})",
        R"({"encoding":"alibi","num_heads":4,"mask":"symmetric"})",
        R"({"encoding":"relative_bias","num_buckets":8})"}) {
    for (const char* causal :
         {"true", "false", R"(true,"window":3,"sinks":true)", R"(false,"softmax_scale":0.8,"logit_softcap":1.5)",
          R"(true,"query_scale":{"amount":0.5,"period":3,"offset":1})",
          R"(true,"query_scale":{"rule":"log_n","length":3,"offset":1})"}) {
      const bool has_axes = std::string_view(position).find("rope_nd") != std::string_view::npos;
      if (has_axes && std::string_view(causal).find("query_scale") != std::string_view::npos) continue;
      const Spec spec =
          parse_spec(std::string(R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":4,"causal":)") +
                     causal + R"(,"position":)" + position + "}");
      const auto& encoding = std::get<Attention>(spec.encoding);
      const DotProductAttention attention(encoding);
      Tensor tensors[3] = {random_tensor(Dtype::float64, {2, 4, 5, 4}, 1),
                           random_tensor(Dtype::float64, {2, 2, 5, 4}, 2),
                           random_tensor(Dtype::float64, {2, 2, 5, 4}, 3)};
      const Tensor sinks = random_tensor(Dtype::float64, {4}, 6);
      const Tensor weight = random_tensor(Dtype::float64, {8, 4}, 4);
      const Tensor grad = random_tensor(Dtype::float64, {2, 4, 5, 4}, 5);
      std::vector<std::int64_t> positions;
      for (std::int64_t i = 0; i < 10 * axes_of(spec.encoding); ++i) positions.push_back(i * i % 17);
      const bool weighted = signature_of(encoding).weight.has_value();
      const auto inputs = [&] {
        return AttentionInputs{tensors[0],
                               tensors[1],
                               tensors[2],
                               positions,
                               weighted ? &weight : nullptr,
                               encoding.sinks ? &sinks : nullptr};
      };
      const auto value = [&] {
        const Tensor out = attention.attend(inputs());
        double sum = 0;
        for (std::int64_t i = 0; i < out.elements(); ++i) sum += out.at(i) * grad.at(i);
        return sum;
      };
      const AttentionGradients gradients = attention.backward(inputs(), grad);
      const Tensor* by[3] = {&gradients.q, &gradients.k, &gradients.v};
      for (int which = 0; which < 3; ++which) {
        for (std::int64_t i = 0; i < tensors[which].elements(); i += 3) {
          const double x = tensors[which].at(i);
          constexpr double step = 0x1p-17;
          tensors[which].set(i, x + step);
          const double above = value();
          tensors[which].set(i, x - step);
          const double below = value();
          tensors[which].set(i, x);
          EXPECT_NEAR(by[which]->at(i), (above - below) / (2 * step), 2e-8 * (1 + std::fabs(by[which]->at(i))))
              << position << causal << " input " << which << " element " << i;
        }
      }
    }
  }
}

}  // namespace
}  // namespace sextant::attention_gradient_test
