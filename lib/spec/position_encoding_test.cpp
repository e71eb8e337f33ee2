// Over 400 lines: tables of specs and of refusals, of every encoding, whose lines are read alone.
#include "lib/spec/encoding_entry.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <ostream>
#include <string>
#include <tuple>

#include "lib/spec/refusal_test.hpp"

namespace sextant::spec_position_encoding_test {
namespace {

struct Written {
  const char* least;
  const char* full;
  const char* described;
};

void PrintTo(const Written& written, std::ostream* stream) { *stream << written.described; }

class EveryEncoding : public testing::TestWithParam<Written> {};

TEST_P(EveryEncoding, FillsItsDefaultsAndWritesEveryField) {
  const Spec spec = parse_spec(GetParam().least);
  const std::string written = to_json(spec);
  EXPECT_EQ(written, GetParam().full + std::string(R"("accuracy":"float32-angle"})"));
  EXPECT_EQ(to_json(parse_spec(written)), written);
  EXPECT_EQ(describe(spec), GetParam().described);
}

INSTANTIATE_TEST_SUITE_P(
    Defaults, EveryEncoding,
    testing::Values(
        Written{R"({"encoding":"integer"})",
                R"({"encoding":"integer","dim":1,"normalize":false,"dtype":"float32",)"
                R"("min_position":0,"max_position":131072,)",
                "integer dim 1, float32"},
        Written{
            R"({"encoding":"binary","dim":8})",
            R"({"encoding":"binary","dim":8,"normalize":false,"dtype":"float32","min_position":0,"max_position":256,)",
            "binary dim 8, float32"},
        Written{R"({"encoding":"binary","dim":63})",
                R"({"encoding":"binary","dim":63,"normalize":false,"dtype":"float32",)"
                R"("min_position":0,"max_position":131072,)",
                "binary dim 63, float32"},
        Written{R"({"encoding":"sinusoidal_2d","dim":8,"height":3,"width":5})",
                R"({"encoding":"sinusoidal_2d","dim":8,"height":3,"width":5,"base":10000.0,)"
                R"("layout":"interleaved","axis_order":"height_first","dtype":"float32",)"
                R"("min_position":0,"max_position":5,)",
                "sinusoidal_2d dim 8, height 3, width 5, base 10000, layout interleaved, float32"},
        Written{R"({"encoding":"sinusoidal_nd","dim":10,"extents":[3,5]})",
                R"({"encoding":"sinusoidal_nd","dim":10,"extents":[3,5],"channels":[6,6],"axis_order":[0,1],)"
                R"("base":10000.0,"layout":"interleaved","first":"sin","denominator":"dim","channel_order":"blocked",)"
                R"("position_offset":0,"coordinates":"index","epsilon":0.0,"scales":null,"dtype":"float32",)"
                R"("min_position":0,"max_position":5,)",
                "sinusoidal_nd dim 10, extents [3, 5], base 10000, layout interleaved, float32"},
        Written{R"({"encoding":"fourier","axes":3,"bands":10})",
                R"({"encoding":"fourier","axes":3,"bands":10,"ladder":"powers_of_two","lowest":0.0,"highest":9.0,)"
                R"("angle_unit":"radian","channel_order":"frequency_function_axis","first":"sin","identity":"none",)"
                R"("coordinates":"index","extents":null,"dtype":"float32","min_position":0,"max_position":131072,)",
                "fourier axes 3, bands 10, ladder powers_of_two, angle_unit radian, float32"},
        Written{R"({"encoding":"fourier","bands":8,"ladder":"linear","coordinates":"ends","extents":[7],)"
                R"("position_dtype":"float64"})",
                R"({"encoding":"fourier","axes":1,"bands":8,"ladder":"linear","lowest":1.0,"highest":8.0,)"
                R"("angle_unit":"radian","channel_order":"frequency_function_axis","first":"sin","identity":"none",)"
                R"("coordinates":"ends","extents":[7],"position_dtype":"float64","position_step":0.0078125,)"
                R"("dtype":"float32","min_position":0,"max_position":7,)",
                "fourier axes 1, bands 8, ladder linear, angle_unit radian, coordinates ends, extents [7], "
                "position_dtype float64, float32"},
        Written{
            R"({"encoding":"fourier","bands":16,"ladder":"weight","coordinates":"centres","extents":[64,48]})",
            R"({"encoding":"fourier","axes":2,"bands":16,"ladder":"weight","angle_unit":"turn",)"
            R"("channel_order":"function_frequency","first":"sin","identity":"none","coordinates":"centres",)"
            R"("extents":[64,48],"dtype":"float32","min_position":0,"max_position":64,)",
            "fourier axes 2, bands 16, ladder weight, angle_unit turn, coordinates centres, extents [64, 48], float32"},
        Written{R"({"encoding":"learned","dim":3,"max_positions":512})",
                R"({"encoding":"learned","dim":3,"max_positions":512,"dtype":"float32",)"
                R"("min_position":0,"max_position":512,)",
                "learned dim 3, max_positions 512, float32"},
        Written{R"({"encoding":"rope_nd","head_dim":8,"sections":[1,3]})",
                R"({"encoding":"rope_nd","head_dim":8,"rotary_dim":8,"rope_theta":10000.0,"pairing":"half",)"
                R"("output_pairing":"half","rotary_layout":"prefix","direction":"counterclockwise",)"
                R"("rope_scaling":null,"sections":[1,3],"section_order":"blocked","axis_order":[0,1],)"
                R"("frequencies":"shared","pairing_scope":"head","coordinates":"index",)"
                R"("extents":null,"rope_thetas":null,"dtype":"float32","min_position":0,"max_position":131072,)",
                "rope_nd head_dim 8, rope_theta 10000, pairing half, sections [1, 3], float32"},
        Written{R"({"encoding":"alibi","num_heads":8})",
                R"({"encoding":"alibi","num_heads":8,"mask":"causal","form":"distance","slopes":"released",)"
                R"("bias_max":8,"slope_dtype":null,"dtype":"float32","min_position":0,"max_position":131072,)",
                "alibi num_heads 8, mask causal, form distance, float32"},
        Written{R"({"encoding":"alibi","num_heads":8,"slope_dtype":"bfloat16"})",
                R"({"encoding":"alibi","num_heads":8,"mask":"causal","form":"distance","slopes":"released",)"
                R"("bias_max":8,"slope_dtype":"bfloat16","dtype":"float32","min_position":0,"max_position":131072,)",
                "alibi num_heads 8, mask causal, form distance, slope_dtype bfloat16, float32"},
        Written{R"({"encoding":"relative_bias"})",
                R"({"encoding":"relative_bias","num_buckets":32,"max_distance":128,)"
                R"("bidirectional":true,"later_keys":"at_zero","buckets":"t5","dtype":"float32","min_position":0,)"
                R"("max_position":131072,)",
                "relative_bias num_buckets 32, max_distance 128, bidirectional true, float32"},
        Written{R"({"encoding":"relative_bias","buckets":"log","num_buckets":512,"max_distance":512})",
                R"({"encoding":"relative_bias","num_buckets":512,"max_distance":512,)"
                R"("bidirectional":true,"later_keys":"at_zero","buckets":"log","dtype":"float32","min_position":0,)"
                R"("max_position":131072,)",
                "relative_bias num_buckets 512, max_distance 512, bidirectional true, buckets log, float32"},
        Written{R"({"encoding":"relative_bias","buckets":"clipped","num_buckets":1024})",
                R"({"encoding":"relative_bias","num_buckets":1024,"max_distance":512,)"
                R"("bidirectional":true,"later_keys":"at_zero","buckets":"clipped","dtype":"float32","min_position":0,)"
                R"("max_position":131072,)",
                "relative_bias num_buckets 1024, max_distance 512, bidirectional true, buckets clipped, float32"},
        Written{R"({"encoding":"window_bias","window":[8,7,5],"class_token":"first"})",
                R"({"encoding":"window_bias","window":[8,7,5],"class_token":"first","dtype":"float32",)"
                R"("min_position":0,"max_position":281,)",
                "window_bias window [8, 7, 5], class_token first, float32"},
        Written{R"({"encoding":"window_bias","window":[7,7]})",
                R"({"encoding":"window_bias","window":[7,7],"class_token":"none","dtype":"float32",)"
                R"("min_position":0,"max_position":49,)",
                "window_bias window [7, 7], float32"},
        Written{R"({"encoding":"log_coordinates","window":[8,7]})",
                R"({"encoding":"log_coordinates","window":[8,7],"pretrained_window":null,"dtype":"float32",)"
                R"("min_position":-7,"max_position":8,)",
                "log_coordinates window [8, 7], float32"},
        Written{R"({"encoding":"log_coordinates","window":[24],"pretrained_window":[12],"min_position":-20})",
                R"({"encoding":"log_coordinates","window":[24],"pretrained_window":[12],"dtype":"float32",)"
                R"("min_position":-20,"max_position":24,)",
                "log_coordinates window [24], pretrained_window [12], float32"},
        Written{R"({"encoding":"attention","num_heads":8,"head_dim":64})",
                R"({"encoding":"attention","num_heads":8,"num_kv_heads":8,"head_dim":64,)"
                R"("causal":false,"position":null,"window":null,"softmax_scale":null,"logit_softcap":null,)"
                R"("sinks":false,"cached_keys":"plain","query_scale":null,"dtype":"float32","min_position":0,)"
                R"("max_position":131072,)",
                "attention num_heads 8, num_kv_heads 8, head_dim 64, causal false, float32"},
        Written{R"({"encoding":"attention","num_heads":8,"num_kv_heads":2,"head_dim":64,)"
                R"("causal":true,"position":{"encoding":"alibi","num_heads":8}})",
                R"({"encoding":"attention","num_heads":8,"num_kv_heads":2,"head_dim":64,)"
                R"("causal":true,"position":{"encoding":"alibi","num_heads":8,"mask":"causal",)"
                R"("form":"distance","slopes":"released","bias_max":8,"slope_dtype":null},"window":null,)"
                R"("softmax_scale":null,)"
                R"("logit_softcap":null,"sinks":false,"cached_keys":"plain","query_scale":null,"dtype":"float32",)"
                R"("min_position":0,"max_position":131072,)",
                "attention num_heads 8, num_kv_heads 2, head_dim 64, causal true, position alibi (num_heads 8, mask "
                "causal, "
                "form distance), float32"},
        Written{
            R"({"encoding":"attention","num_heads":8,"num_kv_heads":2,"head_dim":4,"causal":true,"window":128,)"
            R"("softmax_scale":0.5,"logit_softcap":50,"sinks":true,"cached_keys":"rotated",)"
            R"("position":{"encoding":"rope_nd","head_dim":4,"sections":[1,1]}})",
            R"({"encoding":"attention","num_heads":8,"num_kv_heads":2,"head_dim":4,"causal":true,)"
            R"("position":{"encoding":"rope_nd","head_dim":4,"rotary_dim":4,"rope_theta":10000.0,)"
            R"("pairing":"half","output_pairing":"half","rotary_layout":"prefix","direction":"counterclockwise",)"
            R"("rope_scaling":null,"sections":[1,1],"section_order":"blocked","axis_order":[0,1],)"
            R"("frequencies":"shared","pairing_scope":"head","coordinates":"index",)"
            R"("extents":null,"rope_thetas":null},"window":128,"softmax_scale":0.5,"logit_softcap":50.0,)"
            R"("sinks":true,"cached_keys":"rotated","query_scale":null,"dtype":"float32","min_position":0,)"
            R"("max_position":131072,)",
            "attention num_heads 8, num_kv_heads 2, head_dim 4, causal true, position rope_nd (head_dim 4, rope_theta "
            "10000, pairing half, sections [1, 1]), window 128, softmax_scale 0.5, logit_softcap 50, sinks true, "
            "cached_keys rotated, float32"},
        Written{
            R"({"encoding":"attention","num_heads":2,"head_dim":8,"query_scale":{"amount":0.1,"period":8192}})",
            R"({"encoding":"attention","num_heads":2,"num_kv_heads":2,"head_dim":8,"causal":false,)"
            R"("position":null,"window":null,"softmax_scale":null,"logit_softcap":null,"sinks":false,)"
            R"("cached_keys":"plain","query_scale":{"rule":"log_of_periods","amount":0.1,"period":8192,"offset":0},)"
            R"("dtype":"float32","min_position":0,"max_position":131072,)",
            "attention num_heads 2, num_kv_heads 2, head_dim 8, causal false, query_scale (amount 0.1, period 8192), "
            "float32"},
        Written{
            R"({"encoding":"attention","num_heads":2,"head_dim":8,)"
            R"("query_scale":{"rule":"log_n","length":8192,"offset":1}})",
            R"({"encoding":"attention","num_heads":2,"num_kv_heads":2,"head_dim":8,"causal":false,)"
            R"("position":null,"window":null,"softmax_scale":null,"logit_softcap":null,"sinks":false,)"
            R"("cached_keys":"plain","query_scale":{"rule":"log_n","length":8192,"offset":1},)"
            R"("dtype":"float32","min_position":0,"max_position":131072,)",
            "attention num_heads 2, num_kv_heads 2, head_dim 8, causal false, query_scale (rule log_n, length 8192, "
            "offset 1), float32"}));

TEST(EveryEncoding, IsDescribedByWhatDiffersFromItsDefaults) {
  for (const auto& [spec, described] : {
           std::pair{R"({"encoding":"rope","head_dim":64,"dtype":"bfloat16","evaluation":"dtype"})",
                     "rope head_dim 64, rope_theta 10000, pairing half, bfloat16, evaluation dtype"},
           std::pair{R"({"encoding":"rope","head_dim":64,"pairing":"interleaved","libm":4,"trained_positions":99})",
                     "rope head_dim 64, rope_theta 10000, pairing interleaved, float32, libm 4, trained_positions 99"},
           std::pair{R"({"encoding":"rope","head_dim":64,"partial_rotary_factor":0.5,"output_pairing":"interleaved",)"
                     R"("rope_scaling":{"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,)"
                     R"("truncate":false,"mscale":1,"mscale_all_dim":0.5}})",
                     "rope head_dim 64, rotary_dim 32, rope_theta 10000, pairing half, output_pairing interleaved, "
                     "rope_scaling yarn (factor 40, original_max_position_embeddings 4096, truncate false, mscale 1, "
                     "mscale_all_dim 0.5), float32"},
           std::pair{R"({"encoding":"rope","head_dim":20,"rope_scaling":{"rope_type":"longrope","factor":32,)"
                     R"("original_max_position_embeddings":4096,"short_factor":[1,1,1,1,1,1,1,1,1,1],)"
                     R"("long_factor":[1,2,3,4,5,6,7,8,9,9.5]}})",
                     "rope head_dim 20, rope_theta 10000, pairing half, rope_scaling longrope ("
                     "original_max_position_embeddings 4096, short_factor [10 numbers], long_factor [10 numbers], "
                     "factor 32), "
                     "float32"},
       }) {
    EXPECT_EQ(describe(parse_spec(spec)), described);
  }
}

// What none of the defaults is.
TEST(EveryEncoding, KeepsEveryFieldGiven) {
  for (const std::string fields :
       {R"("encoding":"integer","dim":4,"normalize":true)", R"("encoding":"binary","dim":4,"normalize":true)",
        R"("encoding":"sinusoidal_2d","dim":16,"height":30,"width":20,"base":77.5,)"
        R"("layout":"concatenated","axis_order":"width_first")",
        R"("encoding":"sinusoidal_nd","dim":17,"extents":[13,24],"channels":[8,8],"axis_order":[1,0],"base":77.5,)"
        R"("layout":"interleaved","first":"cos","denominator":"half_minus_one","channel_order":"alternating",)"
        R"("position_offset":1,"coordinates":"normalized","epsilon":0.25,"scales":null)",
        R"("encoding":"sinusoidal_nd","dim":11,"extents":[13,24],"channels":[4,8],"axis_order":[0,1],"base":500.0,)"
        R"("layout":"concatenated","first":"sin","denominator":"dim","channel_order":"blocked","position_offset":-2,)"
        R"("coordinates":"index","epsilon":0.0,"scales":[1.0,1.875])",
        R"("encoding":"fourier","axes":2,"bands":5,"ladder":"powers_of_two","lowest":-1.5,"highest":2.25,)"
        R"("angle_unit":"half_turn","channel_order":"function_frequency_axis","first":"cos","identity":"last",)"
        R"("coordinates":"ends","extents":[9,20])",
        R"("encoding":"fourier","axes":4,"bands":5,"ladder":"weight","angle_unit":"radian",)"
        R"("channel_order":"frequency_function","first":"sin","identity":"first","coordinates":"index",)"
        R"("extents":null)",
        R"("encoding":"learned","dim":7,"max_positions":9)",
        R"("encoding":"rope_nd","head_dim":12,"rotary_dim":6,"rope_theta":500.0,"pairing":"interleaved",)"
        R"("output_pairing":"half","rotary_layout":"suffix","direction":"clockwise","rope_scaling":{)"
        R"("rope_type":"linear","factor":2.0},"sections":[1,1,1],"section_order":"interleaved",)"
        R"("axis_order":[2,0,1],"frequencies":"shared","pairing_scope":"head","coordinates":"index",)"
        R"("extents":null,"rope_thetas":null)",
        R"("encoding":"rope_nd","head_dim":12,"rotary_dim":12,"rope_theta":500.0,"pairing":"half",)"
        R"("output_pairing":"half","rotary_layout":"prefix","direction":"counterclockwise","rope_scaling":null,)"
        R"("sections":[2,2,2],"section_order":"blocked","axis_order":[0,1,2],"frequencies":"dealt",)"
        R"("pairing_scope":"axis","coordinates":"normalized","extents":[9,20,12],"rope_thetas":null)",
        R"("encoding":"rope_nd","head_dim":12,"rotary_dim":12,"rope_theta":500.0,"pairing":"half",)"
        R"("output_pairing":"half","rotary_layout":"prefix","direction":"counterclockwise","rope_scaling":null,)"
        R"("sections":[2,2,2],"section_order":"blocked","axis_order":[0,1,2],"frequencies":"dealt",)"
        R"("pairing_scope":"head","coordinates":"normalized","extents":[9,20,12],)"
        R"("coordinate_shifts":[0.0,-0.125,1.0],"coordinate_scales":[0.5,1.0,1.3],"rope_thetas":null)",
        R"("encoding":"rope_nd","head_dim":12,"rotary_dim":12,"pairing":"half",)"
        R"("output_pairing":"half","rotary_layout":"prefix","direction":"counterclockwise","rope_scaling":null,)"
        R"("sections":[1,2,3],"section_order":"blocked","axis_order":[0,1,2],"frequencies":"per_axis",)"
        R"("pairing_scope":"head","coordinates":"index","extents":null,"rope_thetas":[100.0,200.0,1.0])",
        R"("encoding":"alibi","num_heads":12,"mask":"symmetric","form":"distance","slopes":"geometric",)"
        R"("bias_max":24,"slope_dtype":"float16")",
        R"("encoding":"alibi","num_heads":12,"mask":"causal","form":"key_index","slopes":"released",)"
        R"("bias_max":1,"slope_dtype":null)",
        R"("encoding":"relative_bias","num_buckets":7,"max_distance":50,"bidirectional":false,)"
        R"("later_keys":"mirrored","buckets":"t5")",
        R"("encoding":"relative_bias","num_buckets":16,"max_distance":50,"bidirectional":true,)"
        R"("later_keys":"at_zero","buckets":"log")",
        R"("encoding":"rope_nd","head_dim":12,"rotary_dim":10,"rope_theta":10000.0,"pairing":"interleaved",)"
        R"("output_pairing":"interleaved","rotary_layout":"suffix","direction":"counterclockwise",)"
        R"("rope_scaling":null,"sections":[3,2],"section_order":"interleaved","axis_order":[0,1],)"
        R"("frequencies":"per_axis","pairing_scope":"head","coordinates":"normalized_starts","extents":[9,20],)"
        R"("coordinate_shifts":[0.5,0.0],"coordinate_scales":[0.5,0.25],"ladder":"both_ends","rope_thetas":null)",
        R"("encoding":"window_bias","window":[2,6],"class_token":"first")"}) {
    const std::string written =
        "{" + fields + R"(,"dtype":"bfloat16","min_position":2,"max_position":9,"accuracy":"faithful"})";
    EXPECT_EQ(to_json(parse_spec(written)), written);
    std::string attention =
        R"({"encoding":"attention","num_heads":12,"num_kv_heads":3,"head_dim":12,"causal":true,"position":{)" + fields +
        R"(},"window":7,"softmax_scale":0.25,"logit_softcap":30.0,"sinks":true,"cached_keys":"plain",)"
        R"("query_scale":null,"dtype":"bfloat16","min_position":2,"max_position":9,"accuracy":"faithful"})";
    EXPECT_EQ(to_json(parse_spec(attention)), attention);
  }
}

TEST(XposSpec, HasRopesFieldsButNoScaling) {
  const std::string written = to_json(parse_spec(R"({"encoding":"xpos","head_dim":64,"partial_rotary_factor":0.5,)"
                                                 R"("pairing":"interleaved","scale_base":256,"role":"key"})"));
  const auto object = nlohmann::json::parse(written);
  EXPECT_EQ(object["rotary_dim"], 32);
  EXPECT_EQ(object["output_pairing"], "interleaved");
  EXPECT_EQ(object["scale_base"], 256);
  EXPECT_EQ(object["role"], "key");
  EXPECT_FALSE(object.contains("rope_scaling"));
  EXPECT_EQ(to_json(parse_spec(written)), written);
  const Spec least = parse_spec(R"({"encoding":"xpos","head_dim":64})");
  EXPECT_EQ(std::get<Xpos>(least.encoding).scale_base, 512);
  EXPECT_EQ(std::get<Xpos>(least.encoding).role, Role::query);
  EXPECT_EQ(describe(least), "xpos head_dim 64, rope_theta 10000, pairing half, role query, float32");
}

TEST(XposSpec, CountsFromAPositionOrFromHalfTheCall) {
  const auto centre = [](const std::string& value) {
    const std::string json = to_json(parse_spec(R"({"encoding":"xpos","head_dim":8,"centre":)" + value + "}"));
    EXPECT_EQ(to_json(parse_spec(json)), json);
    EXPECT_NE(json.find("\"centre\":" + value), std::string::npos) << json;
    return std::get<Xpos>(parse_spec(json).encoding).centre;
  };
  using Centre = std::variant<std::int64_t, HalfOfCall>;
  EXPECT_EQ(centre("0"), Centre(std::int64_t{0}));
  EXPECT_EQ(centre("-1024"), Centre(std::int64_t{-1024}));
  EXPECT_EQ(centre(R"("floor_half")"), Centre(HalfOfCall::floor));
  EXPECT_EQ(centre(R"("ceil_half")"), Centre(HalfOfCall::ceil));
}

class RefusedEncoding : public testing::TestWithParam<Refusal> {};

TEST_P(RefusedEncoding, InOneLineThatNamesTheField) {
  const std::string message = refusal(GetParam().json);
  EXPECT_NE(message.find(GetParam().message), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

INSTANTIATE_TEST_SUITE_P(
    Specs, RefusedEncoding,
    testing::Values(
        Refusal{R"({"encoding":"integer","dim":0})", "spec: dim: expected an integer from 1 to 1048576, got 0"},
        Refusal{R"({"encoding":"integer","normalize":1})", "spec: normalize: expected true or false, got 1"},
        Refusal{R"({"encoding":"integer","normalize":true,"max_position":1})",
                "spec: normalize: divides by max_position - 1"},
        Refusal{R"({"encoding":"integer","base":1})", "spec: base: unknown field"},
        Refusal{R"({"encoding":"binary"})", "spec: dim: required"},
        Refusal{R"({"encoding":"binary","dim":64})", "spec: dim: expected an integer from 1 to 63, got 64"},
        Refusal{R"({"encoding":"binary","dim":8,"max_position":257})",
                "spec: max_position: expected at most 256, the number of positions of this binary, got 257"},
        Refusal{R"({"encoding":"binary","dim":8,"min_position":-1})",
                "spec: min_position: expected at least 0, the first position of binary, got -1"},
        Refusal{R"({"encoding":"sinusoidal_2d","dim":8,"height":3})", "spec: width: required"},
        Refusal{R"({"encoding":"sinusoidal_2d","dim":6,"height":3,"width":3})", "spec: dim: expected a multiple of 4"},
        Refusal{R"({"encoding":"sinusoidal_2d","dim":8,"height":0,"width":3})",
                "spec: height: expected an integer from 1"},
        Refusal{R"({"encoding":"sinusoidal_2d","dim":8,"height":3,"width":3,"base":0.5})",
                "spec: base: expected a finite number of at least 1"},
        Refusal{R"({"encoding":"sinusoidal_2d","dim":8,"height":3,"width":3,"axis_order":"depth"})",
                "spec: axis_order: expected one of height_first, width_first"},
        Refusal{R"({"encoding":"sinusoidal_2d","dim":8,"height":3,"width":3,"max_position":4})",
                "spec: max_position: expected at most 3"},
        Refusal{R"({"encoding":"sinusoidal_2d","dim":8,"height":9,"width":7,"min_position":7})",
                "spec: min_position: expected less than 7, where the grid's shorter axis ends"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8})", "spec: extents: required: the number of positions"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[]})", "spec: extents: expected the number of"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2,2,2,2]})",
                "spec: extents: expected the number of positions on each of 1 to 4 axes, got 5 numbers"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,0]})", "spec: extents[1]: expected"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":0,"extents":[2]})", "spec: dim: expected"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"channels":[4]})",
                "spec: channels: expected a number for each of the 2 axes, got 1"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"channels":[4,3]})",
                "spec: channels[1]: expected an even number"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"channels":[8,2]})",
                "spec: dim: expected more than 8, the channels of all axes but the last in the row, got 8"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"axis_order":[0,0]})",
                "spec: axis_order: expected each axis from 0 to 1 once, got 0, 0"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"axis_order":[]})",
                "spec: axis_order: expected each axis once, got none"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"base":0.5})", "spec: base"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":4,"extents":[2,2],"denominator":"half_minus_one"})",
                "spec: denominator: half_minus_one divides by half of an axis' channels less 1"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"channel_order":"alternating",)"
                R"("layout":"concatenated"})",
                "spec: layout: expected interleaved where axes alternate"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"channel_order":"alternating",)"
                R"("channels":[2,6]})",
                "spec: channels: expected equal numbers where axes alternate, got 2, 6"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"epsilon":1e-6})",
                "spec: epsilon: expected 0: only normalized coordinates"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"coordinates":"normalized","epsilon":2})",
                "spec: epsilon: expected a number from 0 to 1, got 2"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,1],"coordinates":"normalized"})",
                "spec: extents[1]: expected a last coordinate extent - 1 + position_offset from 1 to 2^53"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"coordinates":"normalized","scales":[2,2]})",
                "spec: scales: expected none where coordinates are normalized"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"scales":[2]})",
                "spec: scales: expected a number for each of the 2 axes, got 1"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"scales":[2,0.1]})",
                "spec: scales[1]: expected a number from 1/8 to 2^20, got 0.1"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2],"position_offset":9007199254740993})",
                "spec: position_offset: expected an integer from -2^53 to 2^53"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[9,7],"min_position":7})",
                "spec: min_position: expected less than 7, where the shortest axis ends"},
        Refusal{R"({"encoding":"sinusoidal_nd","dim":8,"extents":[3,3],"max_position":4})",
                "spec: max_position: expected at most 3"},
        Refusal{R"({"encoding":"window_bias"})", "spec: window: required: 1 to 3 extents"},
        Refusal{R"({"encoding":"window_bias","window":[]})", "spec: window: expected a list of 1 to 3 extents, got 0"},
        Refusal{R"({"encoding":"window_bias","window":[1,1,1,1]})",
                "spec: window: expected a list of 1 to 3 extents, got 4"},
        Refusal{R"({"encoding":"window_bias","window":[7,0]})", "spec: window: expected an integer from 1"},
        Refusal{R"({"encoding":"window_bias","window":[200,200]})", "spec: window: expected at most 65536"},
        Refusal{R"({"encoding":"window_bias","window":[7,7],"class_token":"last"})",
                "spec: class_token: expected one of none, first"},
        Refusal{R"({"encoding":"window_bias","window":[7,7],"max_position":50})",
                "spec: max_position: expected at most 49, the number of positions of this window_bias, got 50"},
        Refusal{R"({"encoding":"log_coordinates"})", "spec: window: required: 1 to 3 extents"},
        Refusal{R"({"encoding":"log_coordinates","window":[8,1]})", "spec: window: expected extents of at least 2"},
        Refusal{R"({"encoding":"log_coordinates","window":[8,1],"pretrained_window":[1,8]})",
                "spec: pretrained_window: expected extents of at least 2"},
        Refusal{R"({"encoding":"log_coordinates","window":[8,8],"pretrained_window":[]})",
                "spec: pretrained_window: expected null or as many extents as in window, got none"},
        Refusal{R"({"encoding":"log_coordinates","window":[8,8],"pretrained_window":[8]})",
                "spec: pretrained_window: expected null or 2 extents as in window, got 1"},
        Refusal{R"({"encoding":"alibi","num_heads":8,"slope_dtype":"int64"})",
                "spec: slope_dtype: expected null or one of float64, float32, float16, bfloat16, got \"int64\""},
        Refusal{R"({"encoding":"relative_bias","later_keys":"mirrored"})",
                "spec: later_keys: mirrored needs bidirectional false"},
        Refusal{R"({"encoding":"fourier"})", "spec: bands: required"},
        Refusal{R"({"encoding":"fourier","bands":0})", "spec: bands: expected an integer from 1 to 65536, got 0"},
        Refusal{R"({"encoding":"fourier","bands":9223372036854775807})", "spec: bands: expected an integer from 1"},
        Refusal{R"({"encoding":"fourier","bands":4,"axes":5})", "spec: axes: expected an integer from 1 to 4, got 5"},
        Refusal{R"({"encoding":"fourier","bands":4,"lowest":-33})",
                "spec: lowest: expected a number from -32 to 32, got -33"},
        Refusal{R"({"encoding":"fourier","bands":40})",
                "spec: highest: expected a number from -32 to 32 and at least lowest = 0, got 39"},
        Refusal{R"({"encoding":"fourier","bands":4,"lowest":2,"highest":1})",
                "spec: highest: expected a number from -32 to 32 and at least lowest = 2, got 1"},
        Refusal{R"({"encoding":"fourier","bands":1,"highest":1})",
                "spec: highest: expected lowest = 0: one band has one frequency, got 1"},
        Refusal{R"({"encoding":"fourier","bands":4,"ladder":"linear","lowest":0})",
                "spec: lowest: expected a number from 2^-32 to 2^32, got 0"},
        Refusal{R"({"encoding":"fourier","bands":4,"ladder":"weight","highest":0})",
                "spec: highest: expected none: the frequencies are the weight's"},
        Refusal{R"({"encoding":"fourier","bands":4,"ladder":"weight","channel_order":"frequency_function_axis"})",
                "spec: channel_order: expected function_frequency or frequency_function"},
        Refusal{R"({"encoding":"fourier","bands":4,"channel_order":"function_frequency"})",
                "spec: channel_order: expected an order with the axis in it"},
        Refusal{R"({"encoding":"fourier","bands":4,"extents":[8]})",
                "spec: extents: expected null: only centres and ends are of a grid"},
        Refusal{R"({"encoding":"fourier","bands":4,"extents":[]})", "spec: extents: expected a number for each axis"},
        Refusal{R"({"encoding":"fourier","bands":4,"coordinates":"centres"})",
                "spec: extents: required of centres and ends: the cells of each axis"},
        Refusal{R"({"encoding":"fourier","bands":4,"axes":2,"coordinates":"centres","extents":[8]})",
                "spec: extents: expected a number for each of the 2 axes, got 1"},
        Refusal{R"({"encoding":"fourier","bands":4,"coordinates":"ends","extents":[8,1]})",
                "spec: extents[1]: expected an integer from 2 to 2^20, and at most 2^52 steps, got 1"},
        Refusal{R"({"encoding":"fourier","bands":4,"coordinates":"centres","extents":[8192],)"
                R"("position_dtype":"float64","position_step":9.094947017729282e-13})",
                "spec: extents[0]: expected an integer from 1 to 2^20, and at most 2^52 steps, got 8192"},
        Refusal{R"({"encoding":"fourier","bands":4,"coordinates":"centres","extents":[8,5],"max_position":9})",
                "spec: max_position: expected at most 8"},
        Refusal{R"({"encoding":"fourier","bands":4,"coordinates":"centres","extents":[8,5],"min_position":5})",
                "spec: min_position: expected less than 5, where the shortest axis ends"},
        Refusal{R"({"encoding":"attention","num_heads":2,"head_dim":4,"position":{"encoding":"fourier","bands":2,)"
                R"("position_dtype":"float32"}})",
                "spec: position.position_dtype: expected int64"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[9,7],)"
                R"("min_position":7})",
                "spec: min_position: expected less than 7, where the shortest axis ends, got 7"},
        Refusal{R"({"encoding":"learned","dim":8})", "spec: max_positions: required"},
        Refusal{R"({"encoding":"learned","dim":8,"max_positions":0})",
                "spec: max_positions: expected an integer from 1"},
        Refusal{R"({"encoding":"learned","dim":8,"max_positions":10,"max_position":11})",
                "spec: max_position: expected at most 10"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8})", "spec: sections: required"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":4})",
                "spec: sections: expected a list of integers, got 4"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,"2"]})",
                "spec: sections: expected an integer, got \"2\""},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[]})",
                "spec: sections: expected the number of pairs of each axis"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[4,0]})",
                "spec: sections: expected numbers from 1 to rotary_dim/2 = 4, got 0"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,3]})",
                "spec: sections: expected the sum rotary_dim/2 = 4, got 2 + 3"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[9223372036854775807,9223372036854775807]})",
                "spec: sections: expected numbers from 1"},
        Refusal{R"({"encoding":"rope_nd","head_dim":12,"sections":[1,4,1],"section_order":"interleaved"})",
                "spec: sections: expected at most 2 of the 6 pairs for axis 1"},
        Refusal{R"({"encoding":"rope_nd","head_dim":7,"sections":[3]})", "spec: head_dim: expected an even number"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[4],"rope_theta":0})", "spec: rope_theta"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"axis_order":[0]})",
                "spec: axis_order: expected each axis from 0 to 1 once, got 0"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"axis_order":[1,1]})",
                "spec: axis_order: expected each axis from 0 to 1 once, got 1, 1"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"axis_order":[]})",
                "spec: axis_order: expected each axis from 0 to 1 once"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"rope_thetas":[2,3]})",
                "spec: rope_thetas: expected none"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"frequencies":"per_axis","rope_theta":2,)"
                R"("rope_thetas":[2,3]})",
                "spec: rope_thetas: expected none beside rope_theta"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"frequencies":"per_axis","rope_thetas":[2]})",
                "spec: rope_thetas: expected a number for each of the 2 axes, got 1"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"frequencies":"per_axis",)"
                R"("rope_thetas":[2,0.5]})",
                "spec: rope_thetas[1]: expected a finite number"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[1,3],"frequencies":"dealt"})",
                "spec: sections: expected equal numbers where frequencies are dealt"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"frequencies":"dealt",)"
                R"("section_order":"interleaved"})",
                "spec: frequencies: expected shared where sections are interleaved"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"rotary_dim":4,"rotary_layout":"spread","sections":[1,1],)"
                R"("frequencies":"per_axis"})",
                "spec: frequencies: expected shared under rotary_layout spread"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[1,3],"frequencies":"per_axis",)"
                R"("rope_scaling":{"rope_type":"ntk","factor":2}})",
                "spec: sections: expected more than one pair for axis 0"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"rope_scaling":{"rope_type":"dynamic",)"
                R"("factor":2,"original_max_position_embeddings":64,"length_scope":"row"}})",
                "spec: rope_scaling.length_scope: expected call"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[1,3],"pairing_scope":"axis"})",
                "spec: sections: expected equal numbers where channels are paired within each axis, got 1, 3"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"pairing_scope":"axis",)"
                R"("pairing":"interleaved"})",
                "spec: pairing_scope: expected head where channels are interleaved"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"pairing_scope":"axis",)"
                R"("section_order":"interleaved"})",
                "spec: pairing_scope: expected head where sections are interleaved"},
        Refusal{R"({"encoding":"rope_nd","head_dim":16,"rotary_dim":8,"sections":[2,2],"pairing_scope":"axis"})",
                "spec: pairing_scope: expected head where a part of the channels turns"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"extents":[3,4]})",
                "spec: extents: expected none"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[3,0]})",
                "spec: extents[1]: expected an integer from 1"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[3,4],)"
                R"("max_position":5})",
                "spec: max_position: expected at most 4"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[3,4],)"
                R"("rope_scaling":{"rope_type":"linear","factor":2}})",
                "spec: rope_scaling: expected none where coordinates are normalized"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"rope_scaling":null})", "spec: rope_scaling: no field of xpos"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"scale_base":0})",
                "spec: scale_base: expected a finite number above 0, got 0"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"role":"value"})", "spec: role: expected one of query, key"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"centre":"half"})",
                "spec: centre: expected one of floor_half, ceil_half"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"centre":0.5})", "spec: centre: expected an integer"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"centre":9007199254740993})",
                "spec: centre: expected an integer within +-2^53, floor_half or ceil_half"},
        Refusal{R"({"encoding":"xpos","head_dim":7})", "spec: head_dim: expected an even number"},
        Refusal{R"({"encoding":"alibi"})", "spec: num_heads: required"},
        Refusal{R"({"encoding":"alibi","num_heads":0})", "spec: num_heads: expected an integer from 1"},
        Refusal{R"({"encoding":"alibi","num_heads":8,"mask":"none"})", "spec: mask: expected one of causal, symmetric"},
        Refusal{R"({"encoding":"alibi","num_heads":8,"mask":"symmetric","form":"key_index"})",
                "spec: form: key_index needs mask causal"},
        Refusal{R"({"encoding":"relative_bias","num_buckets":31})", "spec: num_buckets: expected an even number"},
        Refusal{R"({"encoding":"relative_bias","num_buckets":2})", "spec: num_buckets: expected at least 4, got 2"},
        Refusal{R"({"encoding":"relative_bias","num_buckets":1,"bidirectional":false})",
                "spec: num_buckets: expected at least 2, got 1"},
        Refusal{R"({"encoding":"relative_bias","num_buckets":65538})",
                "spec: num_buckets: expected an integer from 1 to 65536"},
        Refusal{R"({"encoding":"relative_bias","max_distance":8})", "spec: max_distance: expected an integer above 8"},
        Refusal{R"({"encoding":"relative_bias","bidirectional":"yes"})", "spec: bidirectional: expected true or false"},
        Refusal{R"({"encoding":"relative_bias","buckets":"log2"})", "spec: buckets: expected one of t5, log, clipped"},
        Refusal{R"({"encoding":"relative_bias","buckets":"log","num_buckets":510})",
                "spec: num_buckets: expected a multiple of 4 from 8 of buckets log, got 510"},
        Refusal{R"({"encoding":"relative_bias","buckets":"log","num_buckets":4})",
                "spec: num_buckets: expected a multiple of 4 from 8 of buckets log, got 4"},
        Refusal{R"({"encoding":"relative_bias","buckets":"log","max_distance":9})",
                "spec: max_distance: expected an integer above 9, one more than the distances with a bucket of their "
                "own, and at most 2^53, got 9"},
        Refusal{R"({"encoding":"relative_bias","buckets":"log","bidirectional":false})",
                "spec: bidirectional: expected true: buckets log has rows for both directions"},
        Refusal{R"({"encoding":"relative_bias","buckets":"clipped","later_keys":"mirrored"})",
                "spec: later_keys: expected at_zero: buckets clipped has rows for both directions"},
        Refusal{R"({"encoding":"relative_bias","buckets":"clipped","num_buckets":8,"max_distance":5})",
                "spec: max_distance: expected num_buckets/2 = 4, from which clipped distances share the last bucket, "
                "got 5"},
        Refusal{R"({"encoding":"attention","num_heads":8})", "spec: head_dim: required"},
        Refusal{R"({"encoding":"attention","num_heads":8,"num_kv_heads":3,"head_dim":64})",
                "spec: num_kv_heads: expected a divisor of num_heads = 8, got 3"},
        Refusal{R"({"encoding":"attention","num_heads":8,"num_kv_heads":16,"head_dim":64})",
                "spec: num_kv_heads: expected an integer from 1 to 8, got 16"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"position":"rope"})",
                "spec: position: expected an object or null"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"position":{"head_dim":64}})",
                "spec: position.encoding: required"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("position":{"encoding":"attention","num_heads":8,"head_dim":64}})",
                "spec: position.encoding: expected one of integer"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("position":{"encoding":"rope","head_dim":64,"dtype":"float16"}})",
                "spec: position.dtype: unknown field"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"position":{"encoding":"rope","head_dim":32}})",
                "spec: position.head_dim: 32 contradicts head_dim = 64"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("position":{"encoding":"rope_nd","head_dim":32,"sections":[16]}})",
                "spec: position.head_dim: 32 contradicts head_dim = 64"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("position":{"encoding":"rope","head_dim":64,"rope_theta":0}})",
                "spec: position.rope_theta: expected a finite number"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("position":{"encoding":"xpos","head_dim":64,"role":"key"}})",
                "spec: position.role"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"causal":true,)"
                R"("position":{"encoding":"alibi","num_heads":4}})",
                "spec: position.num_heads: 4 contradicts num_heads = 8"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"position":{"encoding":"alibi","num_heads":8}})",
                "spec: position.mask"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"window":0})", "spec: window: expected"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"softmax_scale":0})",
                "spec: softmax_scale: expected a positive number, got 0"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"logit_softcap":-30})",
                "spec: logit_softcap: expected a positive number, got -30"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinate_scales":[1,2]})",
                "spec: coordinate_scales: expected none: only normalized coordinates are moved and multiplied"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[3,4],)"
                R"("coordinate_scales":[1]})",
                "spec: coordinate_scales: expected a number for each of the 2 axes, got 1"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[3,4],)"
                R"("coordinate_scales":[1,0]})",
                "spec: coordinate_scales[1]: expected a number from 1/64 to 64, got 0"},
        Refusal{
            R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[3,4],)"
            R"("coordinate_shifts":[0.1,0]})",
            "spec: coordinate_shifts[0]: expected a multiple of 2^-30 from -1 to 1, got 0.1; round(0.1 * 2^30) / 2^30 "
            "is one"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized"})",
                "spec: extents: required of normalized coordinates: the patches of each axis"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"position_dtype":"float32"})",
                "spec: position_dtype: no field of rope_nd, which takes whole positions"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"position_step":1})",
                "spec: position_step: no field of xpos, which takes whole positions"},
        Refusal{R"({"encoding":"xpos","head_dim":8,"rope_scaling":null})",
                "spec: rope_scaling: no field of xpos, which has no scaling of its frequencies"},
        // Not listed among those that there are.
        Refusal{
            R"({"encoding":"xpos","head_dim":8,"center":1})",
            "spec: center: unknown field, expected one of accuracy, centre, direction, dtype, encoding, evaluation, "
            "head_dim, libm, max_position, min_position, output_pairing, pairing, partial_rotary_factor, role, "
            "rope_theta, rotary_dim, rotary_layout, scale_base, trained_positions"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"coordinates":"normalized","extents":[3,4],)"
                R"("coordinate_shifts":[]})",
                "spec: coordinate_shifts: expected a number for each axis, got an empty list"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[1,3],"frequencies":"per_axis","rope_scaling":{)"
                R"("rope_type":"longrope","factor":4,"original_max_position_embeddings":8,"short_factor":[1,2],)"
                R"("long_factor":[3,4]}})",
                "spec: sections: expected equal numbers where frequencies are per_axis: longrope has one list of "
                "factors, for each axis' own pairs, got 1, 3"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"ladder":"both_ends"})",
                "spec: ladder: expected falling, but of frequencies per_axis and normalized coordinates"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[3,1],"ladder":"both_ends","frequencies":"per_axis",)"
                R"("coordinates":"normalized_starts","extents":[3,4]})",
                "spec: sections: expected two pairs or more for axis 1, a ladder with both ends, got 1"},
        Refusal{R"({"encoding":"rope_nd","head_dim":8,"sections":[2,2],"ladder":"both_ends","frequencies":"per_axis",)"
                R"("coordinates":"normalized_starts","extents":[3,4],"coordinate_scales":[1,0.3]})",
                "spec: coordinate_scales[1]: expected a number whose product with the base 10000 is a double under "
                "ladder both_ends, got 0.3"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"sinks":1})", "spec: sinks"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"query_scale":{"period":8}})",
                "spec: query_scale.amount: required"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"query_scale":{"amount":0,"period":8}})",
                "spec: query_scale.amount: expected a number above 0, at most 16, got 0"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"query_scale":{"amount":0.1,"period":0}})",
                "spec: query_scale.period: expected"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"query_scale":{"rule":"log_n","length":1}})",
                "spec: query_scale.length: expected an integer from 2 to 2^53, got 1"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"query_scale":{"rule":"log_n"}})",
                "spec: query_scale.length: required"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("query_scale":{"rule":"log_n","length":8,"period":8}})",
                "spec: query_scale.period: unknown field"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("query_scale":{"amount":0.1,"period":8,"offset":-1}})",
                "spec: query_scale.offset: expected an integer from 0 to 1048576, got -1"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"min_position":-2,)"
                R"("query_scale":{"amount":0.1,"period":8,"offset":1}})",
                "spec: min_position: expected -1 or more, where queries are scaled from, got -2"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":4,"query_scale":{"amount":0.1,"period":8},)"
                R"("position":{"encoding":"rope_nd","head_dim":4,"sections":[1,1]}})",
                "spec: query_scale: expected positions of one axis, rope_nd has 2"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,"cached_keys":"rotated"})",
                "spec: cached_keys: expected plain where no position rotates keys, got rotated"},
        Refusal{R"({"encoding":"attention","num_heads":8,"head_dim":64,)"
                R"("position":{"encoding":"learned","dim":8,"max_positions":10},)"
                R"("max_position":11})",
                "spec: max_position: expected at most 10"}));

TEST(Sinusoidal2dChannels, HalfForEachAxis) {
  Sinusoidal2d encoding;
  encoding.dim = 16;
  encoding.height = 2;
  encoding.width = 2;
  const auto channels = [&](GridAxis axis, std::int64_t pair) {
    const Channels of_pair = channels_of_pair(encoding, axis, pair);
    return std::pair(of_pair.first, of_pair.second);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(pairs(encoding), 4);
  EXPECT_EQ(channels(GridAxis::height, 1), Pair(2, 3));
  EXPECT_EQ(channels(GridAxis::width, 1), Pair(10, 11));
  encoding.layout = Layout::concatenated;
  encoding.axis_order = AxisOrder::width_first;
  EXPECT_EQ(channels(GridAxis::height, 1), Pair(9, 13));
  EXPECT_EQ(channels(GridAxis::width, 3), Pair(3, 7));
}

TEST(FourierChannels, FromSlowestToFastest) {
  Fourier encoding;
  encoding.axes = 3;
  encoding.bands = 4;
  const auto channels = [&](std::int64_t axis, std::int64_t band) {
    const Channels of_band = channels_of(encoding, axis, band);
    return std::pair(of_band.first, of_band.second);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(width(encoding), 24);
  EXPECT_EQ(channels(2, 1), Pair(8, 11));
  EXPECT_EQ(identity_channel(encoding, 0), std::nullopt);
  encoding.identity = Identity::first;  // NeRF's code
  EXPECT_EQ(width(encoding), 27);
  EXPECT_EQ(channels(2, 1), Pair(11, 14));
  EXPECT_EQ(identity_channel(encoding, 2), 2);
  encoding.identity = Identity::last;
  EXPECT_EQ(identity_channel(encoding, 2), 26);
  encoding.channel_order = FourierOrder::function_axis_frequency;  // nerfstudio
  EXPECT_EQ(channels(2, 1), Pair(9, 21));
  encoding.first = First::cos;
  EXPECT_EQ(channels(2, 1), Pair(21, 9));
  encoding.first = First::sin;
  encoding.channel_order = FourierOrder::function_frequency_axis;
  EXPECT_EQ(channels(2, 1), Pair(5, 17));
  encoding.channel_order = FourierOrder::axis_frequency_function;  // the paper
  EXPECT_EQ(channels(2, 1), Pair(18, 19));
  encoding.channel_order = FourierOrder::axis_function_frequency;
  EXPECT_EQ(channels(2, 1), Pair(17, 21));
  encoding.channel_order = FourierOrder::frequency_axis_function;
  EXPECT_EQ(channels(2, 1), Pair(10, 11));
  encoding.ladder = FrequencyLadder::weight;
  encoding.channel_order = FourierOrder::function_frequency;
  EXPECT_EQ(width(encoding), 11);
  EXPECT_EQ(channels(0, 1), Pair(1, 5));
  encoding.channel_order = FourierOrder::frequency_function;
  EXPECT_EQ(channels(0, 1), Pair(2, 3));
}

TEST(SinusoidalNdChannels, InBlocksOrByTurns) {
  SinusoidalNd encoding;
  encoding.dim = 20;
  encoding.extents = {2, 2, 2};
  encoding.channels = {4, 8, 8};
  encoding.axis_order = {1, 0, 2};
  const auto channels = [&](std::int64_t axis, std::int64_t pair) {
    const Channels of_pair = channels_of_pair(encoding, axis, pair);
    return std::pair(of_pair.first, of_pair.second);
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(channels(1, 3), Pair(6, 7));
  EXPECT_EQ(channels(0, 0), Pair(8, 9));
  EXPECT_EQ(channels(2, 1), Pair(14, 15));
  EXPECT_EQ(filled_channels(encoding), 20);
  encoding.layout = Layout::concatenated;
  encoding.first = First::cos;
  EXPECT_EQ(channels(0, 1), Pair(11, 9));
  // LoFTR's pe[0::4], pe[1::4] of columns, pe[2::4], pe[3::4] of rows.
  encoding.extents = {2, 2};
  encoding.channels = {8, 8};
  encoding.axis_order = {1, 0};
  encoding.layout = Layout::interleaved;
  encoding.first = First::sin;
  encoding.channel_order = ChannelOrder::alternating;
  EXPECT_EQ(channels(1, 3), Pair(12, 13));
  EXPECT_EQ(channels(0, 3), Pair(14, 15));
  EXPECT_EQ(filled_channels(encoding), 16);
}

RopeNd with_sections(std::vector<std::int64_t> sections, SectionOrder order) {
  RopeNd encoding;
  encoding.rope.head_dim = encoding.rope.rotary_dim =
      2 * std::accumulate(sections.begin(), sections.end(), std::int64_t{0});
  encoding.sections = std::move(sections);
  encoding.section_order = order;
  return encoding;
}

// Qwen2-VL's and Qwen3-VL's settings, by the index sets that their code forms.
TEST(RopeNdSections, BlockedAndInterleaved) {
  RopeNd encoding = with_sections({16, 24, 24}, SectionOrder::blocked);
  const std::vector<std::int64_t> blocked = axis_of_pairs(encoding);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(blocked[i], i < 16 ? 0 : i < 40 ? 1 : 2);
  encoding.sections = {24, 20, 20};
  encoding.section_order = SectionOrder::interleaved;
  const std::vector<std::int64_t> interleaved = axis_of_pairs(encoding);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(interleaved[i], i < 60 ? static_cast<std::int64_t>(i % 3) : 0) << i;
}

TEST(RopeNdSections, AxesComeInTheirOrder) {
  RopeNd encoding = with_sections({1, 2, 1}, SectionOrder::blocked);
  encoding.axis_order = {2, 0, 1};
  EXPECT_EQ(axis_of_pairs(encoding), (std::vector<std::int64_t>{2, 0, 1, 1}));
  encoding.sections = {1, 1, 2};
  encoding.section_order = SectionOrder::interleaved;
  EXPECT_EQ(axis_of_pairs(encoding), (std::vector<std::int64_t>{2, 0, 1, 2}));
}

// Each pair's frequency as ladder and index: Pixtral's inv_freq[0::2] and [1::2], Kimi's alternating axes.
TEST(RopeNdSections, FrequenciesComeFromTheirLadders) {
  const auto places = [](const RopeNd& encoding) {
    std::vector<std::pair<std::int64_t, std::int64_t>> list;
    for (const auto& [ladder, index] : ladders_of(encoding).places) list.emplace_back(ladder, index);
    return list;
  };
  using Places = std::vector<std::pair<std::int64_t, std::int64_t>>;
  RopeNd encoding = with_sections({2, 2}, SectionOrder::blocked);
  EXPECT_EQ(places(encoding), (Places{{0, 0}, {0, 1}, {0, 2}, {0, 3}}));
  encoding.frequencies = AxisFrequencies::dealt;
  EXPECT_EQ(places(encoding), (Places{{0, 0}, {0, 2}, {0, 1}, {0, 3}}));
  encoding.axis_order = {1, 0};
  EXPECT_EQ(places(encoding), (Places{{0, 0}, {0, 2}, {0, 1}, {0, 3}}));
  encoding.frequencies = AxisFrequencies::per_axis;
  EXPECT_EQ(places(encoding), (Places{{1, 0}, {1, 1}, {0, 0}, {0, 1}}));
  encoding.section_order = SectionOrder::interleaved;
  EXPECT_EQ(places(encoding), (Places{{1, 0}, {0, 0}, {1, 1}, {0, 1}}));
}

// Gemma 4's towers: each half of the head by itself.
TEST(RopeNdSections, PairsMayLieWithinTheirAxis) {
  RopeNd encoding = with_sections({3, 3}, SectionOrder::blocked);
  encoding.rope.parts = 2;
  for (const auto& [pair, first, second] : {std::tuple(0, 0, 3), {2, 2, 5}, {3, 6, 9}, {5, 8, 11}}) {
    const Channels channels = channels_of_pair(encoding.rope, Pairing::half, pair);
    EXPECT_EQ(std::pair(channels.first, channels.second), (std::pair<std::int64_t, std::int64_t>(first, second)));
  }
}

TEST(RopeNdSections, NormalizedCoordinatesCountFromTheMiddle) {
  RopeNd encoding = with_sections({2, 2}, SectionOrder::blocked);
  EXPECT_EQ(counted(encoding, 1, 7), 7);
  encoding.coordinates = Coordinates::normalized;
  encoding.extents = {5, 4};
  for (const auto& [axis, p, count] : {std::tuple(0, 0, -4), {0, 2, 0}, {0, 4, 4}, {1, 0, -3}, {1, 3, 3}})
    EXPECT_EQ(counted(encoding, axis, p), count);
  const Ladders ladders = ladders_of(encoding);
  EXPECT_EQ(ladders.ladders.at(0).extent, 5);
  EXPECT_EQ(ladders.ladders.at(1).extent, 4);
}

TEST(RopeNdSections, StartsOfPatchesCountFromTheMiddle) {
  RopeNd encoding = with_sections({2, 2}, SectionOrder::blocked);
  encoding.coordinates = Coordinates::normalized_starts;
  encoding.extents = {5, 4};
  for (const auto& [axis, p, count] : {std::tuple(0, 0, -5), {0, 2, -1}, {1, 2, 0}, {1, 3, 2}})
    EXPECT_EQ(counted(encoding, axis, p), count);
}

// A ladder of m pairs that rises is a falling one of exponents k/(m-1), times its base, from its last to its first.
TEST(RopeNdSections, ALadderWithBothEndsIsAFallingOneTurnedRound) {
  RopeNd encoding = with_sections({3, 2}, SectionOrder::blocked);
  encoding.frequencies = AxisFrequencies::per_axis;
  encoding.coordinates = Coordinates::normalized_starts;
  encoding.extents = {5, 4};
  encoding.coordinate_scales = {0.25, 2};
  encoding.ladder = LadderShape::both_ends;
  const Ladders ladders = ladders_of(encoding);
  EXPECT_EQ(rotary_width(ladders.ladders.at(0).rope), 4);
  EXPECT_EQ(pairs(ladders.ladders.at(0).rope), 3);
  EXPECT_EQ(ladders.ladders.at(0).stretch, 2500);
  EXPECT_EQ(ladders.ladders.at(1).stretch, 20000);
  std::vector<std::int64_t> indices;
  for (const auto& place : ladders.places) indices.push_back(place.index);
  EXPECT_EQ(indices, (std::vector<std::int64_t>{2, 1, 0, 1, 0}));
}

TEST(RopeNdSections, MovedCoordinatesCountInStepsOfTheShift) {
  RopeNd encoding = with_sections({2, 2}, SectionOrder::blocked);
  encoding.coordinates = Coordinates::normalized;
  encoding.extents = {5, 4};
  encoding.coordinate_shifts = {0.375, -1};
  encoding.coordinate_scales = {1.5, 2};
  EXPECT_EQ(shift_bits(encoding, 0), 3);
  EXPECT_EQ(shift_bits(encoding, 1), 0);
  // 8 (2p - 4) + 3 5, and 2p - 3 - 4.
  for (const auto& [axis, p, count] : {std::tuple(0, 0, -17), {0, 2, 15}, {1, 0, -7}, {1, 3, -1}})
    EXPECT_EQ(counted(encoding, axis, p), count);
  const Ladders ladders = ladders_of(encoding);
  EXPECT_EQ(ladders.ladders.at(0).extent, 40);
  EXPECT_EQ(ladders.ladders.at(1).extent, 4);
  EXPECT_EQ(ladders.ladders.at(1).stretch, 2);
}

TEST(RopeNdSections, EveryAxisGetsItsNumberOfPairs) {
  for (const SectionOrder order : {SectionOrder::blocked, SectionOrder::interleaved}) {
    for (const std::vector<std::int64_t>& sections :
         {std::vector<std::int64_t>{7}, {4, 3}, {3, 2, 2}, {5, 1, 1}, {1, 1, 1, 1}}) {
      const RopeNd encoding = with_sections(sections, order);
      const std::vector<std::int64_t> axis = axis_of_pairs(encoding);
      for (std::size_t a = 0; a < sections.size(); ++a) EXPECT_EQ(std::count(axis.begin(), axis.end(), a), sections[a]);
    }
  }
}

TEST(AttentionSpec, TellsTheKeysThatATokenSees) {
  Attention encoding;
  encoding.num_heads = encoding.num_kv_heads = 1;
  encoding.head_dim = 4;
  EXPECT_EQ(keys_seen(encoding, 3, {0, 9}), (KeyRange{0, 9}));
  encoding.window = 3;
  EXPECT_EQ(keys_seen(encoding, 4, {0, 9}), (KeyRange{2, 7}));
  EXPECT_EQ(keys_seen(encoding, 4, {3, 6}), (KeyRange{3, 6}));
  encoding.causal = true;
  EXPECT_EQ(keys_seen(encoding, 4, {0, 9}), (KeyRange{2, 5}));
  EXPECT_EQ(keys_seen(encoding, 1, {0, 9}), (KeyRange{0, 2}));
  EXPECT_EQ(keys_seen(encoding, 1, {5, 9}).count(), 0);
  encoding.window = std::int64_t{1} << 53;
  EXPECT_EQ(keys_seen(encoding, 4, {0, 9}), (KeyRange{0, 5}));
}

TEST(AttentionSpec, GroupsQueryHeads) {
  const Attention encoding{.num_heads = 8, .num_kv_heads = 2, .head_dim = 4, .causal = false, .position = std::nullopt};
  for (std::int64_t head = 0; head < 8; ++head) EXPECT_EQ(kv_head(encoding, head), head < 4 ? 0 : 1);
}

}  // namespace
}  // namespace sextant::spec_position_encoding_test
