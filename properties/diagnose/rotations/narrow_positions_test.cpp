// Positions of 32 bits of claims that reach beyond them.

#include "properties/diagnose/rotations/narrow_positions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "subjects/builtin.hpp"
#include "subjects/function.hpp"

namespace sextant::identify::identify_narrow_positions_test {
namespace {

constexpr auto rope = R"({"encoding":"rope","head_dim":8,"accuracy":"exact-angle",)"
                      R"("min_position":-1099511627776,"max_position":1099511627776})";
constexpr auto codes = R"({"encoding":"sinusoidal","dim":8,"accuracy":"exact-angle","max_position":1099511627776})";
constexpr auto near = R"({"encoding":"rope","head_dim":8,"accuracy":"exact-angle","max_position":16777217})";

std::string told(const std::string& claim, std::int64_t (*taken)(std::int64_t position)) {
  const FunctionSubject subject("narrow positions", [taken](const Spec& spec) -> FunctionSubject::Call {
    Spec wide = spec;
    wide.min_position = -spec.max_position;
    const std::shared_ptr<Session> right = builtin_subject()->open(wide);
    return [right, taken](std::string_view operation, const Tensors& inputs) {
      Tensors others = inputs;
      Tensor& positions = others.at("positions");
      std::vector<std::int64_t> list = positions.integers();
      for (std::int64_t& position : list) position = taken(position);
      positions = Tensor::of_integers(positions.shape, list);
      return right->call(operation, others);
    };
  });
  const auto difference = narrow_positions(subject, parse_spec(claim));
  return difference ? difference->words : "nothing";
}

std::int64_t rounded(std::int64_t position) {
  return static_cast<std::int64_t>(round_to(Dtype::float32, static_cast<double>(position)));
}

std::int64_t of_32_bits(std::int64_t position) { return static_cast<std::int32_t>(position); }

TEST(NarrowPositions, AreToldByTheirFormat) {
  for (const char* claim : {rope, codes}) {
    EXPECT_EQ(told(claim, rounded), "positions are rounded to float32: right up to 16777216");
    EXPECT_EQ(told(claim, of_32_bits),
              "positions are numbers of 32 bits with a sign: 2147483648 is taken for -2147483648");
  }
  EXPECT_EQ(told(codes, [](std::int64_t position) { return position % (std::int64_t{1} << 32); }),
            "positions are numbers of 32 bits without a sign: 4294967296 is taken for 0");
}

// Where a class admits nearly any angle beside 2^32, positions from 2^31 on tell.
TEST(NarrowPositions, AreToldUnderFloat32AnglesToo) {
  const auto clamped = [](std::int64_t position) { return std::min(position, (std::int64_t{1} << 31) - 1); };
  for (const char* claim : {R"({"encoding":"rope","head_dim":64,"max_position":17179869184})",
                            R"({"encoding":"sinusoidal","dim":64,"max_position":8589934592})",
                            R"({"encoding":"rotary_table","head_dim":64,"max_position":8589934592})"}) {
    EXPECT_EQ(told(claim, of_32_bits),
              "positions are numbers of 32 bits with a sign: 2147483648 is taken for -2147483648");
    EXPECT_EQ(told(claim, clamped), "positions above 2147483647 are clamped to it");
    EXPECT_EQ(told(claim, [](std::int64_t p) { return p; }), "nothing");
  }
}

TEST(NarrowPositions, AreNoneOfARightOneNorOfOthers) {
  for (const char* claim : {rope, codes, near}) EXPECT_EQ(told(claim, [](std::int64_t p) { return p; }), "nothing");
  EXPECT_EQ(told(codes, [](std::int64_t p) { return p > 1000 ? p - 1 : p; }), "nothing");
  EXPECT_EQ(told(near, rounded), "nothing");
}

}  // namespace
}  // namespace sextant::identify::identify_narrow_positions_test
