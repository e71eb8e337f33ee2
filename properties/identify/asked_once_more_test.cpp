// Calls of other extents: a name is sure only where they agree with it.

#include "properties/identify/asked_once_more.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "properties/identify/identify.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_asked_once_more_test {
namespace {

constexpr auto claim = R"({"encoding":"rope","head_dim":32,"max_position":65536})";

// Right but for calls of one kind, of which nothing is turned.
struct WrongCalls {
  std::string name;
  std::function<bool(const Tensor& x, const std::vector<std::int64_t>& positions)> are;
};

void PrintTo(const WrongCalls& row, std::ostream* stream) { *stream << row.name; }

FunctionSubject subject_of(const WrongCalls& wrong) {
  return {"right but for some calls", [wrong](const Spec& spec) -> FunctionSubject::Call {
            const std::shared_ptr<Session> right = builtin_subject()->open(spec);
            return [right, wrong](std::string_view operation, const Tensors& inputs) -> Tensors {
              const Tensor& x = inputs.at("x");
              if (wrong.are(x, inputs.at("positions").integers())) return {{"y", x}};
              return right->call(operation, inputs);
            };
          }};
}

const std::vector<WrongCalls>& kinds() {
  static const std::vector<WrongCalls> list{
      {"of_one_token_far_from_0",
       [](const Tensor& x, const auto& positions) { return x.shape[1] == 1 && positions[0] == 1; }},
      {"of_12_heads", [](const Tensor& x, const auto&) { return x.shape[2] == 12; }},
      {"of_more_rows_than_heads", [](const Tensor& x, const auto&) { return x.shape[0] == 6; }},
      {"of_96_tokens", [](const Tensor& x, const auto&) { return x.shape[1] == 96; }},
      {"of_260_tokens_from_0",
       [](const Tensor& x, const auto& positions) { return x.shape[1] == 260 && positions[0] == 0; }},
      {"at_the_end", [](const Tensor&, const auto& positions) { return positions[0] == 65536 - 200; }},
  };
  return list;
}

class IdentifiedCalls : public testing::TestWithParam<WrongCalls> {};

TEST_P(IdentifiedCalls, OfAnotherKindMakeANameUnsure) {
  const FunctionSubject subject = subject_of(GetParam());
  const auto session = subject.open(parse_spec(claim));
  EXPECT_TRUE(answers_unlike(*session, parse_spec(claim)).starts_with("in a call of "));
  const Identification found = identify(subject, parse_spec(claim));
  EXPECT_NE(found.confidence, Confidence::high);
  EXPECT_NE(found.confidence, Confidence::medium);
  EXPECT_LT(found.calls, 200);
}

INSTANTIATE_TEST_SUITE_P(Kinds, IdentifiedCalls, testing::ValuesIn(kinds()),
                         [](const testing::TestParamInfo<WrongCalls>& tested) { return tested.param.name; });

TEST(IdentifiedCallsOfRight, LeaveANameSure) {
  const FunctionSubject subject = subject_of({"none", [](const Tensor&, const auto&) { return false; }});
  const auto session = subject.open(parse_spec(claim));
  EXPECT_EQ(answers_unlike(*session, parse_spec(claim)), "");
  EXPECT_EQ(identify(subject, parse_spec(claim)).confidence, Confidence::high);
}

// Vectors and results of bfloat16 meet a laxer class, and calls of 96 tokens meet none.
TEST(IdentifiedCallsOfALaxerClass, AreAskedToo) {
  const FunctionSubject subject("coarse but for some calls", [](const Spec& spec) -> FunctionSubject::Call {
    Spec coarse = spec;
    coarse.dtype = Dtype::bfloat16;
    const std::shared_ptr<Session> rounded = builtin_subject()->open(coarse);
    return [rounded](std::string_view operation, const Tensors& inputs) -> Tensors {
      const Tensor& x = inputs.at("x");
      if (x.shape[1] == 96) return {{"y", x}};
      Tensors narrow = inputs;
      Tensor& narrow_x = narrow.at("x");
      narrow_x = Tensor::zeros(Dtype::bfloat16, x.shape);
      for (std::int64_t i = 0; i < x.elements(); ++i) narrow_x.set(i, x.at(i));
      const Tensor answer = rounded->call(operation, narrow).at("y");
      Tensor y = Tensor::zeros(x.dtype, x.shape);
      for (std::int64_t i = 0; i < y.elements(); ++i) y.set(i, answer.at(i));
      return {{"y", y}};
    };
  });
  const Identification found = identify(subject, parse_spec(claim));
  EXPECT_NE(found.confidence, Confidence::high);
  EXPECT_NE(found.confidence, Confidence::medium);
}

// What goes by the magnitude of vectors, or by how many cells of a grid are asked, shows in no small call.
TEST(IdentifiedCallsOfOthers, OfLargeVectorsMakeANameUnsure) {
  const FunctionSubject limited("limited", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right](std::string_view operation, const Tensors& inputs) {
      Tensors outputs = right->call(operation, inputs);
      Tensor& y = outputs.at("y");
      for (std::int64_t i = 0; i < y.elements(); ++i) y.set(i, std::clamp(y.at(i), -65504.0, 65504.0));
      return outputs;
    };
  });
  const auto session = limited.open(parse_spec(claim));
  EXPECT_TRUE(answers_unlike(*session, parse_spec(claim)).starts_with("where vectors are large"));
}

TEST(IdentifiedCallsOfOthers, OfFarPositionsMakeANameUnsure) {
  constexpr std::int64_t of_31_bits = std::int64_t{1} << 31;
  struct Far {
    std::string claim;
    std::function<void(std::vector<std::int64_t>& positions)> taken;
  };
  const auto clamped = [](std::vector<std::int64_t>& positions) {
    for (std::int64_t& position : positions) position = std::min(position, of_31_bits - 1);
  };
  const auto from_the_first = [](std::vector<std::int64_t>& positions) {
    const auto in_float32 = [](std::int64_t number) { return round_to(Dtype::float32, static_cast<double>(number)); };
    const std::int64_t first = positions.front();
    for (std::int64_t& position : positions) {
      const double sum = round_to(Dtype::float32, in_float32(position - first) + in_float32(first));
      position = std::min(static_cast<std::int64_t>(sum), 8 * of_31_bits - 1);
    }
  };
  const std::string far_rope = R"({"encoding":"rope","head_dim":64,"max_position":17179869184})";
  const std::string far_table = R"({"encoding":"sinusoidal","dim":64,"max_position":8589934592})";
  for (const Far& far : {Far{far_rope, clamped}, Far{far_table, clamped}, Far{far_rope, from_the_first}}) {
    const FunctionSubject subject("far", [taken = far.taken](const Spec& spec) -> FunctionSubject::Call {
      const std::shared_ptr<Session> right = builtin_subject()->open(spec);
      return [right, taken](std::string_view operation, const Tensors& inputs) {
        Tensors others = inputs;
        Tensor& positions = others.at("positions");
        std::vector<std::int64_t> list = positions.integers();
        if (!list.empty()) taken(list);
        positions = Tensor::of_integers(positions.shape, list);
        return right->call(operation, others);
      };
    });
    EXPECT_EQ(identify(subject, parse_spec(far.claim)).confidence, Confidence::low) << far.claim;
    EXPECT_NE(identify(*builtin_subject(), parse_spec(far.claim)).confidence, Confidence::low) << far.claim;
  }
}

TEST(IdentifiedCallsOfOthers, OfManyCellsMakeANameUnsure) {
  const std::string grid = R"({"encoding":"sinusoidal_2d","dim":32,"height":14,"width":20})";
  const FunctionSubject tiled("tiled", [](const Spec& spec) -> FunctionSubject::Call {
    const std::shared_ptr<Session> right = builtin_subject()->open(spec);
    return [right](std::string_view operation, const Tensors& inputs) {
      Tensors others = inputs;
      Tensor& positions = others.at("positions");
      std::vector<std::int64_t> list = positions.integers();
      const std::size_t cells = list.size() / 2;
      for (std::size_t i = cells; cells > 64 && i < list.size(); ++i) list[i] %= 16;
      positions = Tensor::of_integers(positions.shape, list);
      return right->call(operation, others);
    };
  });
  const Identification found = identify(tiled, parse_spec(grid));
  EXPECT_NE(found.confidence, Confidence::high);
  EXPECT_NE(found.confidence, Confidence::medium);
  EXPECT_LT(found.calls, 200);
  EXPECT_EQ(identify(*builtin_subject(), parse_spec(grid)).confidence, Confidence::high);
}

}  // namespace
}  // namespace sextant::identify::identify_asked_once_more_test
