#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/edited_test.hpp"
#include "properties/engine/engine.hpp"
#include "properties/model/model.hpp"
#include "subjects/builtin.hpp"

// What is wrong in calls of one shape only.

namespace sextant::shape_independence_test {
namespace {

PropertyResult result_of(const std::string& property, const Edited::Edit& edit, const std::string& spec) {
  AuditOptions options;
  options.counterexamples = Counterexamples::not_sought;
  return audit({*property_named(property)}, Edited(builtin_subject(), edit), parse_spec(spec), options).results.front();
}

struct Defect {
  const char* name;
  const char* spec;
  std::function<void(const Tensors& inputs, Tensor& values)> change;
};

void spoil(Tensor& values, std::int64_t first, std::int64_t count) {
  for (std::int64_t i = first; i < first + count; ++i) values.set(i, values.at(i) + 0.5);
}

std::vector<Defect> defects() {
  const auto attention = [](auto change) {
    return [change](const Tensors& inputs, Tensor& out) {
      const Tensor& q = inputs.at("q");
      change(q.shape[0], q.shape[1], q.shape[2], q.shape[3], inputs, out);
    };
  };
  // Row `token` of the head of a batch row.
  const auto at = [](std::int64_t heads, std::int64_t n, std::int64_t d, std::int64_t batch, std::int64_t head,
                     std::int64_t token) { return ((batch * heads + head) * n + token) * d; };
  const char* plain = R"({"encoding":"attention","num_heads":4,"head_dim":16})";
  const char* causal = R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"causal":true,)"
                       R"("position":{"encoding":"rope","head_dim":16}})";
  std::vector<Defect> list;
  for (const char* spec : {plain, causal}) {
    list.push_back({"one tile of a call of 1000 tokens", spec,
                    attention([at](auto, auto heads, auto n, auto d, const Tensors&, Tensor& out) {
                      if (n >= 1000) spoil(out, at(heads, n, d, 0, 2, 512), 64 * d);
                    })});
    list.push_back({"the last head of a long call", spec,
                    attention([at](auto, auto heads, auto n, auto d, const Tensors&, Tensor& out) {
                      if (n > 200) spoil(out, at(heads, n, d, 0, heads - 1, 0), n * d);
                    })});
    list.push_back(
        {"batch row 40", spec, attention([at](auto batch, auto heads, auto n, auto d, const Tensors&, Tensor& out) {
           if (batch > 40) spoil(out, at(heads, n, d, 40, 0, 0), heads * n * d);
         })});
  }
  list.push_back({"keys beyond 64", plain,
                  attention([at](auto batch, auto heads, auto n, auto d, const Tensors& inputs, Tensor& out) {
                    if (n <= 64) return;
                    // The one row that a tile of 64 keys ends in: the others are as they should be.
                    for (std::int64_t b = 0; b < batch; ++b) {
                      const std::int64_t start = at(heads, n, d, b, 1, 64);
                      std::vector<double> scores;
                      for (std::int64_t key = 0; key < 64; ++key) {
                        double score = 0;
                        for (std::int64_t c = 0; c < d; ++c)
                          score += inputs.at("q").at(start + c) * inputs.at("k").at(at(heads, n, d, b, 1, key) + c);
                        scores.push_back(score / std::sqrt(static_cast<double>(d)));
                      }
                      const double greatest = *std::ranges::max_element(scores);
                      for (std::int64_t c = 0; c < d; ++c) {
                        double sum = 0;
                        double total = 0;
                        for (std::int64_t key = 0; key < 64; ++key) {
                          const double weight = std::exp(scores[static_cast<std::size_t>(key)] - greatest);
                          total += weight;
                          sum += weight * inputs.at("v").at(at(heads, n, d, b, 1, key) + c);
                        }
                        out.set(start + c, sum / total);
                      }
                    }
                  })});
  for (const char* spec : {R"({"encoding":"alibi","num_heads":8})", R"({"encoding":"relative_bias"})"}) {
    const auto bias = [](auto change) {
      return [change](const Tensors& inputs, Tensor& values) {
        change(std::ssize(inputs.at("query_positions").integers()), std::ssize(inputs.at("key_positions").integers()),
               values);
      };
    };
    list.push_back({"more queries than keys", spec, bias([](auto q, auto k, Tensor& values) {
                      if (q > k) spoil(values, (q - 1) * k, 1);
                    })});
    list.push_back({"key 1500 of query 700", spec, bias([](auto q, auto k, Tensor& values) {
                      if (q > 700 && k > 700) spoil(values, 700 * k + std::min<std::int64_t>(k - 1, 600), 1);
                    })});
  }
  const char* rope = R"({"encoding":"rope","head_dim":16})";
  const auto rotation = [](auto change) {
    return [change](const Tensors& inputs, Tensor& y) {
      const Tensor& x = inputs.at("x");
      change(x.shape[0], x.shape[1], x.shape[2], x.shape[3], y);
    };
  };
  list.push_back({"head 100", rope, rotation([](auto, auto, auto heads, auto d, Tensor& y) {
                    if (heads > 100) spoil(y, 100 * d, d);
                  })});
  list.push_back({"token 5000", rope, rotation([](auto, auto n, auto heads, auto d, Tensor& y) {
                    if (n > 5000) spoil(y, 5000 * heads * d, d);
                  })});
  list.push_back({"two rows of more than 100", rope, rotation([](auto batch, auto n, auto heads, auto d, Tensor& y) {
                    if (batch == 2 && n * heads > 100) spoil(y, n * heads * d, d);
                  })});
  list.push_back({"257 rows", R"({"encoding":"sinusoidal","dim":16})", [](const Tensors&, Tensor& y) {
                    if (y.shape[0] == 257) spoil(y, 256 * 16, 16);
                  }});
  list.push_back({"130 rows of an axial rotation", R"({"encoding":"rope_nd","head_dim":24,"sections":[4,4,4]})",
                  rotation([](auto, auto n, auto heads, auto d, Tensor& y) {
                    if (n > 130) spoil(y, 129 * heads * d, d);
                  })});
  list.push_back({"130 rows of xpos", R"({"encoding":"xpos","head_dim":24})",
                  rotation([](auto, auto n, auto heads, auto d, Tensor& y) {
                    if (n > 130) spoil(y, 129 * heads * d, d);
                  })});
  list.push_back({"the thirtieth row of a table", R"({"encoding":"learned","dim":8,"max_positions":500})",
                  [](const Tensors&, Tensor& y) {
                    if (y.shape[0] > 30) spoil(y, 30 * 8, 8);
                  }});
  return list;
}

TEST(ShapeIndependence, IsLostByWhatIsWrongInCallsOfOneShape) {
  for (const Defect& defect : defects()) {
    const PropertyResult result = result_of(
        "shape_independence",
        [&](std::string_view operation, const Tensors& inputs, Tensors& reply) {
          if (operation != "describe") defect.change(inputs, reply.begin()->second);
        },
        defect.spec);
    EXPECT_EQ(result.verdict, Verdict::violated) << defect.name << " of " << defect.spec;
  }
}

// Accuracy judges long calls of attention by themselves.
TEST(ShapeIndependence, IsNotTheOnlyLawThatSeesLongCallsOfAttention) {
  for (const Defect& defect : defects()) {
    if (!std::holds_alternative<Attention>(parse_spec(defect.spec).encoding)) continue;
    const PropertyResult result = result_of(
        "accuracy",
        [&](std::string_view, const Tensors& inputs, Tensors& reply) { defect.change(inputs, reply.begin()->second); },
        defect.spec);
    EXPECT_EQ(result.verdict, Verdict::violated) << defect.name << " of " << defect.spec;
  }
}

// Each call rounded its own way: what differs in the last place is no fault, whatever the shape, and is judged quickly.
TEST(ShapeIndependence, AllowsOtherRoundingsInOtherShapes) {
  AuditOptions options;
  options.steps = std::uint64_t{1} << 34;
  for (const char* spec :
       {R"({"encoding":"rope","head_dim":64})", R"({"encoding":"sinusoidal","dim":64})",
        R"({"encoding":"rope_nd","head_dim":24,"sections":[4,4,4]})", R"({"encoding":"xpos","head_dim":64})",
        R"({"encoding":"sinusoidal_2d","dim":16,"height":64,"width":64})", R"({"encoding":"alibi","num_heads":8})",
        R"({"encoding":"sinusoidal_nd","dim":24,"extents":[16,30,14],"scales":[1,2,2]})",
        R"({"encoding":"fourier","axes":2,"bands":8,"ladder":"weight","position_dtype":"float32"})",
        R"({"encoding":"attention","num_heads":4,"head_dim":32,"causal":true})",
        R"({"encoding":"attention","num_heads":2,"head_dim":16,"dtype":"bfloat16"})"}) {
    const Edited nudged(builtin_subject(), [](std::string_view, const Tensors&, Tensors& reply) {
      Tensor& values = reply.begin()->second;
      const double up = values.elements() % 3 == 0 ? 1 + 0x1p-23 : 1 - 0x1p-23;
      for (std::int64_t i = 0; i < values.elements(); ++i) values.set(i, values.at(i) * up);
    });
    const PropertyResult result =
        audit({*property_named("shape_independence")}, nudged, parse_spec(spec), options).results.front();
    EXPECT_EQ(result.verdict, Verdict::holds) << spec << " " << result.reason << result.worst->finding;
  }
}

TEST(ShapeIndependence, DoesNotApplyWhereTheLengthOfACallCounts) {
  const Spec spec = parse_spec(
      R"({"encoding":"rope","head_dim":16,"rope_scaling":{"rope_type":"dynamic","factor":2,"original_max_position_embeddings":64}})");
  EXPECT_TRUE(property_named("shape_independence")->not_applicable(spec).has_value());
}

}  // namespace
}  // namespace sextant::shape_independence_test
