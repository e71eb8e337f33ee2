#include "properties/model/attention_quick.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include <cmath>

#include "properties/model/attention_oracle.hpp"
#include "properties/model/quick_exponential.hpp"
#include "reference/rounding.hpp"

// The fast tier of attention against the exact one.

namespace sextant::model_attention_quick_test {
namespace {

using reference::Enclosure;

template <class Real>
void expect_near_exponential(double roundoff) {
  for (int i = 0; i < 4000; ++i) {
    const double x = -std::ldexp(1.0 + i % 97 / 97.0, i % 40 - 30) * (i % 40 == 39 ? 0.6 : 1);
    const auto value = quick_exponential(static_cast<Real>(x));
    const Enclosure truth = exp(Enclosure(x, reference::first_precision));
    const auto high = static_cast<double>(value);
    const Enclosure got = Enclosure(high, reference::first_precision) +
                          Enclosure(static_cast<double>(value - static_cast<Real>(high)), reference::first_precision);
    if (x < -707) {
      EXPECT_EQ(value, 0);
    } else {
      EXPECT_LE((abs(got - truth) / truth).upper(), quick_exponential_roundoffs / 2 * roundoff) << x;
    }
  }
  EXPECT_EQ(quick_exponential(Real{0}), 1);
  EXPECT_TRUE(std::isnan(quick_exponential(std::nan(""))));
}

TEST(QuickExponential, IsWithinItsBound) {
  expect_near_exponential<double>(0x1p-53);
  expect_near_exponential<long double>(0x1p-64);
}

void expect_contained(AttentionOracle& oracle, const AttentionCase& request, QuickAttention& quick,
                      const AttentionPlaceOfHead& place, const char* text) {
  const QuickAttentionRow fast = quick.row(place);
  const reference::RealVector exact =
      oracle.row(request, place.batch, place.head, place.token, reference::first_precision);
  for (std::size_t c = 0; c < fast.value.size(); ++c) {
    const auto high = static_cast<double>(fast.value[c]);
    const Enclosure value =
        Enclosure(high, reference::first_precision) +
        Enclosure(static_cast<double>(fast.value[c] - static_cast<long double>(high)), reference::first_precision);
    EXPECT_LE(abs(value - exact[c]).upper(), fast.errors[c]) << text << " channel " << c;
  }
}

TEST(QuickAttention, ContainsTheTruth) {
  for (
      const char* text :
      {R"({"encoding":"attention","num_heads":2,"head_dim":8})",
       R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"causal":true,)"
       R"("position":{"encoding":"rope","head_dim":16}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":16,"dtype":"float64",)"
       R"("position":{"encoding":"rope","head_dim":16,"rotary_dim":8,"direction":"clockwise",)"
       R"("pairing":"interleaved"}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":12,"dtype":"bfloat16",)"
       R"("position":{"encoding":"rope_nd","head_dim":12,"sections":[2,2,2]}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"max_position":4096,)"
       R"("position":{"encoding":"xpos","head_dim":8}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"dtype":"float64","max_position":4096,)"
       R"("position":{"encoding":"xpos","head_dim":8,"pairing":"interleaved"}})",
       R"({"encoding":"attention","num_heads":3,"head_dim":8,"causal":true,)"
       R"("position":{"encoding":"alibi","num_heads":3}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,)"
       R"("position":{"encoding":"alibi","num_heads":2,"form":"key_index"}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"position":{"encoding":"relative_bias"}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,"window":6,"softmax_scale":0.7,)"
       R"("logit_softcap":1.5,"sinks":true,"position":{"encoding":"rope","head_dim":8}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"query_scale":{"rule":"log_n","length":1000,"offset":1}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"query_scale":{"amount":0.1,"period":1000,"offset":1}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"dtype":"float64","logit_softcap":2,)"
       R"("query_scale":{"amount":3,"period":7},"position":{"encoding":"rope","head_dim":8}})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"window":4,"logit_softcap":20,"sinks":true,)"
       R"("dtype":"float64"})",
       R"({"encoding":"attention","num_heads":2,"head_dim":8,"max_position":5000,)"
       R"("position":{"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"dynamic","factor":2,)"
       R"("original_max_position_embeddings":64}}})"}) {
    const Spec spec = parse_spec(text);
    const auto& encoding = std::get<Attention>(spec.encoding);
    AttentionOracle oracle(spec);
    for (const std::int64_t position : {0, 1000}) {
      const AttentionCase request =
          attention_case(spec, {.position = position, .tokens = 21, .batch = 2, .heads = 1, .fill = position + 1});
      const auto quick = oracle.quick(request);
      for (std::int64_t row = 0; row < 2 * encoding.num_heads * 21; row += 5) {
        const AttentionPlaceOfHead place{row / 21 / encoding.num_heads, row / 21 % encoding.num_heads, row % 21};
        const QuickAttentionRow fast = quick->row(place);
        const double least = *std::min_element(fast.bounds.begin(), fast.bounds.end());
        EXPECT_LE(*std::max_element(fast.errors.begin(), fast.errors.end()),
                  *std::max_element(fast.bounds.begin(), fast.bounds.end()) *
                      (spec.dtype == Dtype::float64 ? 0x1p-5 : 0x1p-18))
            << text;
        EXPECT_LE(quick->least_bound(place), least) << text;
        EXPECT_GT(quick->least_bound(place), 0) << text;
        expect_contained(oracle, request, *quick, place, text);
      }
    }
  }
}

// As above, of steps and calls with padding.
TEST(QuickAttention, ContainsTheTruthOfSteps) {
  for (const char* fields :
       {R"("position":{"encoding":"rope","head_dim":8})",
        R"("position":{"encoding":"rope","head_dim":8},"cached_keys":"rotated","dtype":"float64")",
        R"("position":{"encoding":"rope_nd","head_dim":8,"sections":[2,1,1],"pairing":"interleaved"},)"
        R"("cached_keys":"rotated","sinks":true)",
        R"("position":{"encoding":"alibi","num_heads":2},"window":5)",
        R"("query_scale":{"amount":0.5,"period":110,"offset":1})"}) {
    const Spec spec =
        parse_spec(fmt::format(R"({{"encoding":"attention","num_heads":2,"head_dim":8,"causal":true,{}}})", fields));
    const auto& encoding = std::get<Attention>(spec.encoding);
    AttentionOracle oracle(spec);
    const AttentionCase whole = attention_case(spec, {.position = 100, .tokens = 21, .batch = 3, .fill = 1});
    const AttentionCase padded = with_padding(whole, PaddedSide::both, 4, 1, 1e30);
    for (const AttentionCase& request : {last_of(whole, 1), last_of(whole, 5), padded, last_of(padded, 4)}) {
      const auto quick = oracle.quick(request);
      for (std::int64_t row = 0; row < 3 * 2 * request.queries(); ++row) {
        const AttentionPlaceOfHead place{row / request.queries() / 2, row / request.queries() % 2,
                                         row % request.queries()};
        if (request.seen_by(encoding, place.batch, place.token).count() > 0)
          expect_contained(oracle, request, *quick, place, fields);
      }
    }
  }
}

}  // namespace
}  // namespace sextant::model_attention_quick_test
