#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "properties/catalogue.hpp"
#include "properties/edited_test.hpp"
#include "properties/engine/engine.hpp"
#include "subjects/builtin.hpp"

// The laws of rotations, on each encoding that rotates: what is right holds them, what breaks one is convicted by it.

namespace sextant::rope_every_rotation_test {
namespace {

const char* const claims[] = {
    R"({"encoding":"rope","head_dim":16})",
    R"({"encoding":"rope_nd","head_dim":16,"sections":[2,3,3]})",
    R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"section_order":"interleaved","dtype":"bfloat16"})",
    R"({"encoding":"xpos","head_dim":16})",
    R"({"encoding":"xpos","head_dim":16,"role":"key","dtype":"float16"})",
};

const char* const laws[] = {"isometry", "identity_at_zero", "composition",   "linearity",
                            "adjoint",  "pair_isolation",   "nan_isolation", "token_isolation"};

PropertyResult judged(const char* law, const Edited::Edit& edit, const char* claim) {
  AuditOptions options;
  options.counterexamples = Counterexamples::not_sought;
  return audit({*property_named(law)}, Edited(builtin_subject(), edit), parse_spec(claim), options).results.front();
}

TEST(EveryRotation, HasTheLawsOfRotations) {
  for (const char* claim : claims) {
    for (const char* law : laws) {
      const PropertyResult result = judged(
          law, [](std::string_view, const Tensors&, Tensors&) {}, claim);
      EXPECT_EQ(result.verdict, Verdict::holds) << law << " of " << claim << ": " << result.reason;
    }
  }
}

// Of y, the answer to x at the positions [axes, tokens]; `operation` is rotate or backward.
struct Answer {
  std::string_view operation;
  const Tensor& x;
  std::vector<std::int64_t> positions;
  Tensor& y;

  std::int64_t width() const { return x.shape[3]; }
  std::int64_t first_coordinate(std::int64_t i) const {
    return positions[static_cast<std::size_t>(i / width() / x.shape[2])];
  }
  void for_each(auto change) {
    for (std::int64_t i = 0; i < y.elements(); ++i) y.set(i, change(i, y.at(i)));
  }
};

struct Defect {
  const char* law;
  const char* name;
  void (*change)(Answer& answer);
};

const Defect defects[] = {
    {"isometry", "far vectors are a tenth too long",
     [](Answer& answer) {
       answer.for_each([&](std::int64_t i, double y) { return answer.first_coordinate(i) > 3500 ? y * 1.1 : y; });
     }},
    {"identity_at_zero", "a bias",
     [](Answer& answer) { answer.for_each([](std::int64_t, double y) { return y + 0.125; }); }},
    {"composition", "no rotation on the way back beyond a window of 1000",
     [](Answer& answer) {
       answer.for_each(
           [&](std::int64_t i, double y) { return std::abs(answer.first_coordinate(i)) >= 1000 ? answer.x.at(i) : y; });
     }},
    {"linearity", "values are clipped",
     [](Answer& answer) { answer.for_each([](std::int64_t, double y) { return std::clamp(y, -1.0, 1.0); }); }},
    {"adjoint", "the gradient of a third head is zero",
     [](Answer& answer) {
       if (answer.operation != "backward" || answer.x.shape[2] < 3) return;
       answer.for_each([&](std::int64_t i, double y) { return i / answer.width() % answer.x.shape[2] == 2 ? 0 : y; });
     }},
    {"pair_isolation", "what channel 3 has leaks into the last one",
     [](Answer& answer) {
       answer.for_each([&](std::int64_t i, double y) {
         const std::int64_t last = answer.width() - 1;
         return i % answer.width() == last ? y + 0.25 * answer.x.at(i - last + 3) : y;
       });
     }},
    {"nan_isolation", "each channel has 0 times the sum of the vector",
     [](Answer& answer) {
       answer.for_each([&](std::int64_t i, double y) {
         double sum = 0;
         for (std::int64_t c = 0; c < answer.width(); ++c) sum += answer.x.at(i / answer.width() * answer.width() + c);
         return y + 0 * sum;
       });
     }},
    {"token_isolation", "a value is kept from the vector before",
     [](Answer& answer) {
       answer.for_each(
           [&](std::int64_t i, double y) { return i > 0 && i % answer.width() == 0 ? answer.x.at(i - 1) : y; });
     }},
};

TEST(EveryRotation, IsConvictedByTheLawItBreaks) {
  for (const char* claim : claims) {
    for (const Defect& defect : defects) {
      const Edited::Edit edit = [&](std::string_view operation, const Tensors& inputs, Tensors& reply) {
        if (!inputs.contains("x")) return;
        Answer answer{operation, inputs.at("x"), inputs.at("positions").integers(), reply.begin()->second};
        if (answer.y.elements() == answer.x.elements()) defect.change(answer);
      };
      EXPECT_EQ(judged(defect.law, edit, claim).verdict, Verdict::violated)
          << defect.law << ", " << defect.name << ", of " << claim;
    }
  }
}

}  // namespace
}  // namespace sextant::rope_every_rotation_test
