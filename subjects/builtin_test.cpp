#include "subjects/builtin.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "subjects/equally_spaced.hpp"
#include "subjects/operations.hpp"

namespace sextant::builtin_test {
namespace {

Tensor counted(const Spec& spec, std::vector<std::int64_t> shape) {
  Tensor tensor = Tensor::zeros(spec.dtype, std::move(shape));
  for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, static_cast<double>(i % 7) - 3);
  return tensor;
}

std::string refusal(FailureKind kind, const std::function<void()>& act) {
  try {
    act();
  } catch (const SubjectFailure& failure) {
    EXPECT_EQ(failure.kind(), kind) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "answered";
  return "";
}

const std::vector<std::int64_t> places{0, 1, 5};

TEST(BuiltinSubject, AnswersEveryCode) {
  for (const char* json : {R"({"encoding":"integer","dim":4})", R"({"encoding":"binary","dim":4})",
                           R"({"encoding":"sinusoidal","dim":4})"}) {
    const Spec spec = parse_spec(json);
    EXPECT_EQ(encode(*builtin_subject()->open(spec), spec, places).shape, (std::vector<std::int64_t>{3, 4})) << json;
  }
  const Spec grid = parse_spec(R"({"encoding":"sinusoidal_2d","dim":8,"height":7,"width":7,"dtype":"bfloat16"})");
  EXPECT_EQ(encode(*builtin_subject()->open(grid), grid, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}).shape,
            (std::vector<std::int64_t>{3, 8}));
  const Spec film = parse_spec(R"({"encoding":"sinusoidal_nd","dim":10,"extents":[7,7,7],"dtype":"float16"})");
  EXPECT_EQ(encode(*builtin_subject()->open(film), film, std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}).shape,
            (std::vector<std::int64_t>{2, 10}));
  const Spec point = parse_spec(R"({"encoding":"fourier","bands":2,"identity":"last","position_dtype":"float32"})");
  const Tensor features = encode(*builtin_subject()->open(point), point, places);  // positions 0, 2^-7, 5 2^-7
  EXPECT_EQ(features.shape, (std::vector<std::int64_t>{3, 5}));
  EXPECT_EQ(features.at(14), 0.0390625);
  const Spec cell = parse_spec(R"({"encoding":"fourier","bands":2,"ladder":"weight","axes":1})");
  const Tensor half = encode(*builtin_subject()->open(cell), cell, places, counted(cell, {1, 2}));
  EXPECT_EQ(half.shape, (std::vector<std::int64_t>{3, 4}));
  const Spec learned = parse_spec(R"({"encoding":"learned","dim":3,"max_positions":6})");
  const Tensor weight = counted(learned, {6, 3});
  const Tensor rows = encode(*builtin_subject()->open(learned), learned, places, weight);
  EXPECT_EQ(rows.at(8), weight.at(17));
}

TEST(BuiltinSubject, AnswersEveryRotationAndItsGradient) {
  for (const char* json :
       {R"({"encoding":"xpos","head_dim":8})", R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2]})",
        R"({"encoding":"rope","head_dim":8})",
        R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"linear","factor":2}})"}) {
    const Spec spec = parse_spec(json);
    const auto session = builtin_subject()->open(spec);
    const Tensor x = counted(spec, {1, 3, 2, 8});
    std::vector<std::int64_t> positions = places;
    std::vector<std::int64_t> shape{1, 3};
    if (axes_of(spec.encoding) == 2) {
      positions.insert(positions.end(), {2, 7, 0});
      shape.insert(shape.begin(), 2);
    }
    EXPECT_NE(rotate(*session, spec, x, positions).data, x.data);
    const Tensors inputs{{"x", x}, {"positions", Tensor::of_integers(shape, positions)}};
    EXPECT_EQ(backward(*session, spec, "rotate", inputs, x).shape, x.shape);
    refusal(FailureKind::unsupported, [&] { backward(*session, spec, "encode", inputs, x); });
  }
}

// A step of 1 makes real positions of whole ones: the same bits; and half the frequency of half a step.
TEST(BuiltinSubject, TurnsRealPositionsBackIntoCounts) {
  const auto encoded = [](const char* rest, const std::vector<std::int64_t>& positions) {
    const Spec spec = parse_spec(std::string(R"({"encoding":"sinusoidal","dim":8)") + rest + "}");
    return encode(*builtin_subject()->open(spec), spec, positions).data;
  };
  const char* real = R"(,"position_dtype":"float64","position_step":1)";
  EXPECT_EQ(encoded(real, places), encoded("", places));
  EXPECT_EQ(encoded(R"(,"position_dtype":"float32","position_step":0.5)", places),
            encoded(R"(,"angle_scale":0.5)", places));
  const Spec spec = parse_spec(R"({"encoding":"rope","head_dim":8,"position_dtype":"float32"})");
  const auto session = builtin_subject()->open(spec);
  const Tensor x = counted(spec, {1, 1, 1, 8});
  Tensor positions = Tensor::zeros(Dtype::float32, {1, 1});
  positions.set(0, 0.3);
  refusal(FailureKind::error, [&] { session->call("rotate", {{"x", x}, {"positions", positions}}); });
  refusal(FailureKind::error, [&] {
    session->call("rotate", {{"x", x}, {"positions", Tensor::of_integers({1, 1}, std::vector<std::int64_t>{3})}});
  });
}

TEST(BuiltinSubject, AnswersBiasesBucketsAndTheirGradients) {
  const Spec alibi = parse_spec(R"({"encoding":"alibi","num_heads":2})");
  EXPECT_EQ(bias(*builtin_subject()->open(alibi), alibi, places, places).at(2 * 3), -0x1p-4 * 5);
  const Spec t5 = parse_spec(R"({"encoding":"relative_bias"})");
  const auto session = builtin_subject()->open(t5);
  const Tensor weight = counted(t5, {32, 2});
  EXPECT_EQ(bucket(*session, t5, std::vector<std::int64_t>{-7, 0, 7, 1000}), (std::vector<std::int64_t>{7, 0, 23, 31}));
  EXPECT_EQ(bias(*session, t5, places, places, weight).at(1), weight.at(17 * 2));
  const Tensors inputs{{"query_positions", Tensor::of_integers({3}, places)},
                       {"key_positions", Tensor::of_integers({3}, places)},
                       {"weight", weight}};
  const Tensor gradient = backward(*session, t5, "bias", inputs, counted(t5, {2, 3, 3}));
  EXPECT_EQ(gradient.at(0), -3 + 1 + -2);  // the diagonal: elements 0, 4 and 8
  const Spec learned = parse_spec(R"({"encoding":"learned","dim":1,"max_positions":6})");
  const Tensors lookup{{"positions", Tensor::of_integers({3}, std::vector<std::int64_t>{5, 5, 0})},
                       {"weight", counted(learned, {6, 1})}};
  EXPECT_EQ(backward(*builtin_subject()->open(learned), learned, "encode", lookup, counted(learned, {3, 1})).at(5),
            -3 + -2);
}

TEST(BuiltinSubject, AnswersAttentionWithEachPositionEncoding) {
  for (const char* position :
       {"null", R"({"encoding":"rope","head_dim":8})", R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2]})",
        R"({"encoding":"xpos","head_dim":8})", R"({"encoding":"alibi","num_heads":4})",
        R"({"encoding":"relative_bias"})", R"({"encoding":"sinusoidal","dim":32})"}) {
    const Spec spec = parse_spec(
        std::string(
            R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":8,"causal":true,"position":)") +
        position + "}");
    const Tensor q = counted(spec, {1, 4, 3, 8});
    const Tensor k = counted(spec, {1, 2, 3, 8});
    const Tensor weight = counted(spec, {32, 4});
    std::vector<std::int64_t> positions = places;
    if (axes_of(spec.encoding) == 2) positions.insert(positions.end(), {2, 7, 0});
    const bool weighted = std::string(position).find("relative") != std::string::npos;
    const Tensor out = attend(*builtin_subject()->open(spec), spec, {q, k, k, positions, weighted ? &weight : nullptr});
    // The first token sees itself alone.
    for (std::int64_t i = 0; i < 8; ++i) EXPECT_EQ(out.at(i), k.at(i)) << position;
    // So it is its value's gradient as it is, and its query's is nothing.
    Tensor grad = Tensor::zeros(spec.dtype, q.shape);
    grad.set(3, 2);
    const AttendGradients gradients =
        backward(*builtin_subject()->open(spec), spec, {q, k, k, positions, weighted ? &weight : nullptr}, grad);
    EXPECT_EQ(gradients.v.at(3), 2) << position;
    EXPECT_EQ(gradients.q.at(3), 0) << position;
  }
}

// The overload for ranges and that for lists are both what callers meet: an audit of builtin asks through each.
TEST(BuiltinSubject, EquallySpacedPositionsAreARange) {
  const auto range = [](const std::vector<std::int64_t>& positions) -> std::vector<std::int64_t> {
    const auto found = equally_spaced(positions);
    return found ? std::vector<std::int64_t>{found->first, found->count, found->step} : std::vector<std::int64_t>{};
  };
  EXPECT_EQ(range({7, 8}), (std::vector<std::int64_t>{7, 2, 1}));
  EXPECT_EQ(range({7, 4, 1, -2}), (std::vector<std::int64_t>{7, 4, -3}));
  EXPECT_EQ(range({5, 5, 5}), (std::vector<std::int64_t>{5, 3, 0}));
  for (const std::vector<std::int64_t>& list : {std::vector<std::int64_t>{}, {3}, {0, 1, 3}, {0, 1, 0}})
    EXPECT_EQ(range(list), std::vector<std::int64_t>{});
  constexpr std::int64_t least = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":4})");
  for (const std::vector<std::int64_t>& beyond : {std::vector<std::int64_t>{0, least},
                                                  {most, least},
                                                  {least, most},
                                                  {0, std::int64_t{1} << 60, std::int64_t{1} << 61}}) {
    refusal(FailureKind::error, [&] { encode(*builtin_subject()->open(spec), spec, beyond); });
  }
}

TEST(BuiltinSubject, RangesAndListsHaveTheSameBits) {
  const Spec spec = parse_spec(R"({"encoding":"sinusoidal","dim":64,"position_offset":2,"scale":-0.3})");
  const auto session = builtin_subject()->open(spec);
  for (const std::int64_t step : {1, -1, 0, 1000}) {
    std::vector<std::int64_t> positions;
    for (std::int64_t i = 0; i < 200; ++i) positions.push_back(131000 + i * step);
    const Tensor range = encode(*session, spec, positions);
    ASSERT_TRUE(equally_spaced(positions));
    positions.push_back(17);
    ASSERT_FALSE(equally_spaced(positions));
    const Tensor list = encode(*session, spec, positions);
    EXPECT_TRUE(std::equal(range.data.begin(), range.data.end(), list.data.begin())) << step;
  }
}

TEST(BuiltinSubject, NamesWhatItRefuses) {
  const Spec learned = parse_spec(R"({"encoding":"learned","dim":3,"max_positions":6})");
  const auto session = builtin_subject()->open(learned);
  const Tensors outside{{"positions", Tensor::of_integers({1}, std::vector<std::int64_t>{6})},
                        {"weight", counted(learned, {6, 3})}};
  EXPECT_NE(refusal(FailureKind::error, [&] { session->call("encode", outside); })
                .find("positions: 6 is not one of the 6 learned"),
            std::string::npos);
  EXPECT_NE(refusal(FailureKind::error,
                    [&] {
                      session->call("encode", {{"positions", outside.at("positions")}});
                    })
                .find("weight"),
            std::string::npos);
  refusal(FailureKind::unsupported, [&] { session->call("rotate", {}); });
  EXPECT_NO_THROW(reset(*session));
}

}  // namespace
}  // namespace sextant::builtin_test
