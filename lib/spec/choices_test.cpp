// Specs made in C++ whose enumerations hold numbers that none of their values has.

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <variant>

#include "lib/spec/spec.hpp"

namespace sextant::spec_choices_test {
namespace {

// What is refused, of a least spec, once `spoil` has had it.
std::string refusal_of_claim(std::string_view json, const std::function<void(Spec&)>& spoil) {
  Spec spec = parse_spec(json);
  spoil(spec);
  try {
    validate(spec);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "accepted";
}

// The same of its encoding.
template <class EncodingType>
std::string refusal(std::string_view json, const std::function<void(EncodingType&)>& spoil) {
  return refusal_of_claim(json, [&](Spec& spec) { spoil(std::get<EncodingType>(spec.encoding)); });
}

std::string expected(const std::string& field, const std::string& values) {
  return "spec: " + field + ": expected one of " + values + ", got 7";
}

template <class Enum>
void set(Enum& field) {
  field = static_cast<Enum>(7);
}

// `member` of the encoding is called `field`, and may be one of `values`.
template <class EncodingType, class Enum>
void expect_refused(std::string_view json, Enum EncodingType::*member, const std::string& field,
                    const std::string& values) {
  EXPECT_EQ((refusal<EncodingType>(json, [&](EncodingType& encoding) { set(encoding.*member); })),
            expected(field, values));
}

TEST(Choices, OfEveryEncodingAreRefusedByTheirField) {
  const std::string_view rope = R"({"encoding":"rope","head_dim":8})";
  expect_refused(rope, &Rope::pairing, "pairing", "interleaved, half");
  expect_refused(rope, &Rope::output_pairing, "output_pairing", "interleaved, half");
  expect_refused(rope, &Rope::rotary_layout, "rotary_layout", "prefix, spread, suffix");
  expect_refused(rope, &Rope::direction, "direction", "counterclockwise, clockwise");
  const std::string_view rope_nd = R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2]})";
  expect_refused(rope_nd, &RopeNd::section_order, "section_order", "blocked, interleaved");
  expect_refused(rope_nd, &RopeNd::coordinates, "coordinates", "index, normalized, normalized_starts");
  const std::string_view xpos = R"({"encoding":"xpos","head_dim":8})";
  expect_refused(xpos, &Xpos::role, "role", "query, key");
  const std::string_view sinusoidal = R"({"encoding":"sinusoidal","dim":8})";
  expect_refused(sinusoidal, &Sinusoidal::layout, "layout", "interleaved, concatenated");
  expect_refused(sinusoidal, &Sinusoidal::first, "first", "sin, cos");
  const std::string_view of_grid = R"({"encoding":"sinusoidal_2d","dim":8,"height":2,"width":2})";
  expect_refused(of_grid, &Sinusoidal2d::layout, "layout", "interleaved, concatenated");
  expect_refused(of_grid, &Sinusoidal2d::axis_order, "axis_order", "height_first, width_first");
  const std::string_view of_axes = R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2]})";
  expect_refused(of_axes, &SinusoidalNd::first, "first", "sin, cos");
  expect_refused(of_axes, &SinusoidalNd::denominator, "denominator", "dim, half_minus_one");
  expect_refused(of_axes, &SinusoidalNd::channel_order, "channel_order", "blocked, alternating");
  const std::string_view fourier = R"({"encoding":"fourier","axes":1,"bands":2})";
  expect_refused(fourier, &Fourier::ladder, "ladder", "powers_of_two, linear, weight");
  expect_refused(fourier, &Fourier::angle_unit, "angle_unit", "radian, half_turn, turn");
  expect_refused(fourier, &Fourier::identity, "identity", "none, first, last");
  const std::string_view alibi = R"({"encoding":"alibi","num_heads":2})";
  expect_refused(alibi, &Alibi::mask, "mask", "causal, symmetric");
  expect_refused(alibi, &Alibi::form, "form", "distance, key_index");
  expect_refused(alibi, &Alibi::slopes, "slopes", "released, geometric");
  const std::string_view relative = R"({"encoding":"relative_bias"})";
  expect_refused(relative, &RelativeBias::buckets, "buckets", "t5, log, clipped");
  expect_refused(relative, &RelativeBias::later_keys, "later_keys", "at_zero, mirrored");
  expect_refused(R"({"encoding":"window_bias","window":[2,2]})", &WindowBias::class_token, "class_token",
                 "none, first");
  expect_refused(R"({"encoding":"attention","num_heads":2,"head_dim":8})", &Attention::cached_keys, "cached_keys",
                 "plain, rotated");
}

TEST(Choices, WithinAreRefusedByTheirPath) {
  EXPECT_EQ(refusal<QkNormRope>(R"({"encoding":"qk_norm_rope","head_dim":8})",
                                [](QkNormRope& encoding) { set(encoding.rope.pairing); }),
            expected("pairing", "interleaved, half"));
  EXPECT_EQ(refusal<RopeNd>(R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2]})",
                            [](RopeNd& encoding) { set(encoding.rope.direction); }),
            expected("direction", "counterclockwise, clockwise"));
  EXPECT_EQ(refusal<Attention>(
                R"({"encoding":"attention","num_heads":2,"head_dim":8,"position":{"encoding":"rope","head_dim":8}})",
                [](Attention& encoding) { set(std::get<Rope>(*encoding.position).pairing); }),
            expected("position.pairing", "interleaved, half"));
  const std::string_view stretched =
      R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"dynamic","factor":2,)"
      R"("original_max_position_embeddings":64}})";
  EXPECT_EQ(refusal<Rope>(stretched, [](Rope& rope) { set(std::get<DynamicScaling>(rope.rope_scaling).length_scope); }),
            expected("rope_scaling.length_scope", "call, row"));
  const std::string_view yarn = R"({"encoding":"rope","head_dim":8,"rope_scaling":{"rope_type":"yarn","factor":2,)"
                                R"("original_max_position_embeddings":64}})";
  EXPECT_EQ(refusal<Rope>(yarn, [](Rope& rope) { set(std::get<YarnScaling>(rope.rope_scaling).truncate); }),
            "spec: rope_scaling.truncate: expected true or false");
  EXPECT_EQ(refusal<Xpos>(R"({"encoding":"xpos","head_dim":8})",
                          [](Xpos& encoding) { encoding.centre = static_cast<HalfOfCall>(7); }),
            expected("centre", "floor_half, ceil_half"));
  EXPECT_EQ(refusal<Rope>(R"({"encoding":"rope","head_dim":8})", [](Rope& rope) { set(rope.positions.dtype); }),
            expected("position_dtype", "int64, float32, float64"));
  EXPECT_EQ(refusal<Alibi>(R"({"encoding":"alibi","num_heads":2})",
                           [](Alibi& encoding) { encoding.slope_dtype = static_cast<Dtype>(7); }),
            expected("slope_dtype", "float64, float32, float16, bfloat16"));
}

TEST(Choices, OfTheClaimAreRefusedByTheirField) {
  const auto refused = [](const std::function<void(Spec&)>& spoil) {
    return refusal_of_claim(R"({"encoding":"rope","head_dim":8})", spoil);
  };
  EXPECT_EQ(refused([](Spec& spec) { set(spec.dtype); }),
            "spec: dtype: expected float64, float32, float16 or bfloat16");
  EXPECT_EQ(refused([](Spec& spec) { spec.accuracy = static_cast<AccuracyClass>(99); }),
            "spec: accuracy: expected one of correctly-rounded, faithful, exact-angle, pair-norm, float32-angle, "
            "float32-recurrence, float16-angle, bfloat16-angle, got 99");
  EXPECT_EQ(refused([](Spec& spec) { set(spec.evaluation); }),
            "spec: evaluation: expected one of float32, table, dtype, dtype-accumulate, got 7");
}

}  // namespace
}  // namespace sextant::spec_choices_test
