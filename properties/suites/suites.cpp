#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/gen/values.hpp"
#include "properties/suites/asked.hpp"
#include "properties/suites/compare.hpp"
#include "properties/suites/suite.hpp"
#include "subjects/operations.hpp"

namespace sextant::suites {
namespace {

Positions from_to(std::int64_t first, std::int64_t end) {
  Positions list;
  for (std::int64_t position = first; position < end; ++position) list.push_back(position);
  return list;
}

// Drawn below `end`.
Positions drawn(std::int64_t count, std::int64_t end, std::int64_t fill) {
  Positions list;
  for (std::int64_t i = 0; i < count; ++i) list.push_back(static_cast<std::int64_t>(gen::word(fill, i) >> 1) % end);
  return list;
}

using Rows = std::vector<Positions>;
using Compare = std::function<Outcome(const Tensor& got, const Tensor& expected)>;

Compare within(double relative, double absolute) {
  return [=](const Tensor& got, const Tensor& expected) { return close(got, expected, {relative, absolute}); };
}
Outcome by_default(const Tensor& got, const Tensor& expected) {
  return close(got, expected, default_tolerance(expected.dtype));
}

// One comparison of a suite: so many in a dtype.
struct InDtype {
  Dtype dtype;
  Compare compare;
};
using Calls = std::vector<Rotated>;
using Ask = std::function<Outcome(const Subject& subject, const Spec& claim)>;

// Every call in every dtype against `expected`.
Ask every(std::vector<InDtype> dtypes, Calls calls, Tensor (Asked::*expected)(const Rotated&)) {
  return [=](const Subject& subject, const Spec& claim) -> Outcome {
    for (const InDtype& in : dtypes) {
      Asked asked(subject, claim, in.dtype);
      for (const Rotated& call : calls) {
        if (Outcome outcome = in.compare(asked.got(call), (asked.*expected)(call)); !outcome.passes) return outcome;
      }
    }
    return {};
  };
}

// flash-attention's: twice what adding and taking off 0.3 changes.
Outcome close_by_rounding(const Tensor& got, const Tensor& expected) {
  double most = 0;
  for (std::int64_t i = 0; i < expected.elements(); ++i) {
    const double y = expected.at(i);
    most = std::max(most, std::fabs(round_to(expected.dtype, round_to(expected.dtype, y + 0.3) - 0.3) - y));
  }
  return close(got, expected, {1e-3, 2 * most});
}

// float8_e4m3fn and float8_e5m2 (Micikevicius et al. 2022, table 1).
struct Eight {
  int digits;  // significant, in binary
  int least;   // exponent of a normal number
  double largest;
};
constexpr Eight e4m3{4, -6, 448};
constexpr Eight e5m2{3, -14, 57344};

double rounded(const Eight& format, double value) {
  const int exponent = value == 0 ? format.least : std::max(std::ilogb(value), format.least);
  const double place = std::ldexp(1.0, exponent - format.digits + 1);
  return std::clamp(std::nearbyint(value / place) * place, -format.largest, format.largest);
}

// Of a kernel that writes eight bits: what is turned is rounded to them, and so is the reference.
Compare in_eight_bits(const Eight& format, Tolerance tolerance) {
  return [=](Tensor got, Tensor expected) {
    for (Tensor* tensor : {&got, &expected}) {
      for (std::int64_t i = 0; i < tensor->elements(); ++i) tensor->set(i, rounded(format, tensor->at(i)));
    }
    return close(got, expected, tolerance);
  };
}

// rope(rope(x, 100 + i), 67) and rope(x, 167 + i).
Outcome group_law(const Subject& subject, const Spec& claim) {
  Asked asked(subject, claim, Dtype::float32);
  const Tensor x = asked.values({{from_to(0, 73)}, 4});
  const Tensor once = asked.got(x, asked.positions({{from_to(100, 173)}, 4}));
  const Tensor twice = asked.got(once, asked.positions({{Positions(73, 67)}, 4}));
  return close_in_mean(twice, asked.got(x, asked.positions({{from_to(167, 240)}, 4})), 1e-4);
}

// Liger's function and the class behind it, which are one kernel.
Outcome same_by_either_name(const Subject& subject, const Spec& claim) {
  for (const auto& [dtype, most] : {std::pair{Dtype::float32, 1e-5}, {Dtype::bfloat16, 1e-1}}) {
    Asked asked(subject, claim, dtype);
    for (const Rotated& call : {Rotated{{from_to(0, 2)}, 2}, Rotated{Rows(9, from_to(0, 7)), 41}}) {
      if (Outcome outcome = close(asked.got(call), asked.got(call), {1e-5, most}); !outcome.passes) return outcome;
    }
  }
  return {};
}

Outcome same_twice(const Subject& subject, const Spec& claim) {
  const Rotated call{{from_to(0, 99), from_to(99, 198), from_to(204, 303)}, 4};
  Asked asked(subject, claim, Dtype::float16);
  return close(asked.got(call), asked.got(call), {1e-3, 1e-3});
}

Outcome of_short_calls(const Subject& subject, const Spec& claim) {
  const Rotated call{{from_to(0, 16)}, 4};
  Asked asked(subject, claim, Dtype::bfloat16);
  const Tensor got = asked.got(call);
  const Tensor expected = asked.usual(call);
  return all_of({close(got, expected, {1e-2, 1e-2}), close_in_direction(got, expected, 0.999)});
}

// The formula with every operation in the dtype: positions, frequencies as exponentials, angles, sines and products.
// Of claims without a scaling rule.
std::optional<Tensor> in_own_dtype(const Asked& asked, const Rotated& call) {
  const Spec& spec = asked.spec();
  const Rope& rope = *held<Rope>(spec);
  if (!std::holds_alternative<DefaultScaling>(rope.rope_scaling)) return std::nullopt;
  const auto in = [&](double value) { return round_to(spec.dtype, value); };
  const Tensor x = asked.values(call);
  const Positions positions = asked.positions(call);
  const double step = in(std::log(rope.rope_theta) / static_cast<double>(rope.rotary_dim / 2));
  Tensor y = x;
  for (std::int64_t vector = 0; vector * rope.head_dim < x.elements(); ++vector) {
    const std::int64_t start = vector * rope.head_dim;
    for (const Passthrough& channel : passthrough_channels(rope))
      y.set(start + channel.output, x.at(start + channel.input));
    const auto position = static_cast<double>(positions[static_cast<std::size_t>(vector / call.heads)]);
    for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
      const double frequency = in(std::exp(in(-static_cast<double>(pair) * step)));
      const double angle = in(in(position)*frequency);
      const double sin = in(std::sin(angle)) * (rope.direction == Direction::clockwise ? -1 : 1);
      const double cos = in(std::cos(angle));
      const Channels from = channels_of_pair(rope, rope.pairing, pair);
      const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
      const double a = x.at(start + from.first);
      const double b = x.at(start + from.second);
      y.set(start + to.first, in(in(a * cos) - in(b * sin)));
      y.set(start + to.second, in(in(a * sin) + in(b * cos)));
    }
  }
  return y;
}

// Rows of four in three dtypes; in 16 bits against code in that dtype, too.
Outcome of_small_calls(const Subject& subject, const Spec& claim) {
  for (const auto& [dtype, most] : {std::pair{Dtype::float32, 1e-6}, {Dtype::float16, 1e-3}, {Dtype::bfloat16, 1e-2}}) {
    Asked asked(subject, claim, dtype);
    for (const std::int64_t first : {0, 3}) {
      if (first != 0 && dtype != Dtype::float32) continue;
      const Rotated call{Rows(2, from_to(first, first + 4)), 1};
      const Tensor got = asked.got(call);
      const auto narrow = in_own_dtype(asked, call);
      const Outcome outcome = all_of({close(got, asked.usual(call), {0, most}),
                                      narrow && dtype != Dtype::float32 ? close(got, *narrow, {0, most}) : Outcome()});
      if (!outcome.passes) return outcome;
    }
  }
  return {};
}

// Batches whose rows begin at 0, 1, 2, ..., and single tokens of position 5.
Outcome of_batches(const Subject& subject, const Spec& claim) {
  Asked asked(subject, claim, Dtype::float32);
  std::vector<Rotated> calls;
  for (const std::int64_t batch : {3, 8, 11}) {
    for (const std::int64_t heads : {1, 3, 5}) {
      Rotated& call = calls.emplace_back(Rotated{{}, heads});
      for (std::int64_t row = 0; row < batch; ++row) call.rows.push_back(from_to(row, row + 4));
    }
  }
  for (const std::size_t batch : {2U, 4U, 8U}) {
    for (const std::int64_t heads : {1, 4, 7}) calls.push_back({Rows(batch, {5}), heads});
  }
  for (const Rotated& call : calls) {
    if (Outcome outcome = close(asked.got(call), asked.usual(call), {0, 1e-5}); !outcome.passes) return outcome;
  }
  return {};
}

// The kernel in bfloat16 against itself in float32.
Outcome of_large_offset(const Subject& subject, const Spec& claim) {
  const Rotated call{{from_to(4000, 5024)}, 1};
  Asked narrow(subject, claim, Dtype::bfloat16);
  Asked wide(subject, claim, Dtype::float32);
  const Tensor got = narrow.got(call);
  Tensor widened = Tensor::zeros(Dtype::float32, got.shape);
  for (std::int64_t i = 0; i < got.elements(); ++i) widened.set(i, got.at(i));
  return close(widened, wide.got(wide.values(call), wide.positions(call)), {0, 1e-1});
}

// Scalars alone.
Outcome of_torchtune(const Subject& subject, const Spec& claim) {
  const Rotated call{{from_to(0, 2048)}, 2};
  Asked asked(subject, claim, Dtype::float32);
  const auto scalars = [](const Tensor& tensor) {
    Tensor three = Tensor::zeros(Dtype::float64, {3});
    double sum = 0;
    double most = tensor.at(0);
    for (std::int64_t i = 0; i < tensor.elements(); ++i) {
      sum += tensor.at(i);
      most = std::max(most, tensor.at(i));
    }
    three.set(0, sum / static_cast<double>(tensor.elements()));
    three.set(1, sum);
    three.set(2, most);
    return three;
  };
  return close(scalars(asked.got(call)), scalars(asked.usual(call)), {1e-5, 1e-4});
}

// The frequencies, which are the angles at position 1, against their first five digits.
Outcome frequencies_of_five_digits(const Subject& subject, const Spec& claim) {
  Asked asked(subject, claim, Dtype::float32);
  const Rope& rope = *held<Rope>(asked.spec());
  Tensor ones = Tensor::zeros(Dtype::float32, {1, 1, 1, rope.head_dim});
  for (std::int64_t pair = 0; pair < pairs(rope); ++pair) ones.set(channels_of_pair(rope, rope.pairing, pair).first, 1);
  const auto angles = [&](const Tensor& turned) {
    Tensor list = Tensor::zeros(Dtype::float32, {pairs(rope)});
    for (std::int64_t pair = 0; pair < pairs(rope); ++pair) {
      const Channels to = channels_of_pair(rope, rope.output_pairing, pair);
      list.set(pair, std::atan2(turned.at(to.second), turned.at(to.first)));
    }
    return list;
  };
  Tensor golden = angles(rotate(*usual_implementation()->open(asked.spec()), asked.spec(), ones, Positions{1}));
  for (std::int64_t i = 0; i < golden.elements(); ++i) {
    const double value = golden.at(i);
    if (value == 0) continue;
    const double place = std::pow(10, std::floor(std::log10(std::fabs(value))) - 4);
    golden.set(i, std::round(value / place) * place);
  }
  return by_default(angles(asked.got(ones, Positions{1})), golden);
}

// A prefix of a long call is the short call; with linear scaling position 10 p is position p without.
Outcome of_scaling(const Subject& subject, const Spec& claim) {
  Asked asked(subject, claim, Dtype::float32);
  const Tensor x = asked.values({{from_to(0, 768)}, 2});
  const Tensor whole = asked.got(x, asked.positions({{from_to(0, 768)}, 2}));
  Tensor first = Tensor::zeros(x.dtype, {1, 10, x.shape[2], x.shape[3]});
  Tensor start = first;
  std::copy_n(x.data.begin(), first.data.size(), first.data.begin());
  std::copy_n(whole.data.begin(), start.data.size(), start.data.begin());
  const Outcome prefix = by_default(asked.got(first, from_to(0, 10)), start);
  Spec scaled = claim;
  if (!prefix.passes || !std::holds_alternative<DefaultScaling>(held<Rope>(claim)->rope_scaling)) return prefix;
  held<Rope>(scaled)->rope_scaling = LinearScaling{.factor = 10};
  try {
    validate(scaled);
  } catch (const SpecError&) {
    return prefix;  // no such claim
  }
  Positions tenfold;
  for (std::int64_t position = 0; position < 10; ++position) tenfold.push_back(10 * position);
  return by_default(Asked(subject, scaled, Dtype::float32).got(first, tenfold), start);
}

// Ones at positions 0 and 3 against four digits; three tokens at once and one by one; two at position 0 against numbers
// of seven digits; under linear scaling by 2 positions 0 to 2, by 5 position 12.
Outcome of_keras(const Subject& subject, const Spec& claim) {
  constexpr Tolerance of_digits{1e-2, 1e-2};
  constexpr Tolerance usual_tolerance{1e-6, 1e-6};
  Asked asked(subject, claim, Dtype::float32);
  const Rope& rope = *held<Rope>(asked.spec());
  const auto ones = [&](std::int64_t tokens, std::int64_t heads) {
    Tensor tensor = Tensor::zeros(Dtype::float32, {1, tokens, heads, rope.head_dim});
    for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, 1);
    return tensor;
  };
  const auto of_usual = [](const Spec& spec, const Tensor& x, const Positions& positions) {
    return rotate(*usual_implementation()->open(spec), spec, x, positions);
  };
  const auto rounded = [](Tensor tensor) {
    for (std::int64_t i = 0; i < tensor.elements(); ++i) tensor.set(i, std::round(tensor.at(i) * 1e4) / 1e4);
    return tensor;
  };
  const Positions four = asked.positions({{from_to(0, 4)}, 1});
  const auto ends = [&](const Tensor& tensor) {
    Tensor both = Tensor::zeros(tensor.dtype, {2, rope.head_dim});
    for (std::int64_t i = 0; i < rope.head_dim; ++i) {
      both.set(i, tensor.at(i));
      both.set(rope.head_dim + i, tensor.at(3 * rope.head_dim + i));
    }
    return both;
  };
  Outcome outcome =
      close(ends(asked.got(ones(4, 1), four)), ends(rounded(of_usual(asked.spec(), ones(4, 1), four))), of_digits);
  if (!outcome.passes) return outcome;

  const Rotated three{Rows(2, from_to(0, 3)), 1};
  const Tensor x = asked.values(three);
  const Tensor whole = asked.got(three);
  for (std::int64_t token = 0; token < 3; ++token) {
    Tensor one = Tensor::zeros(x.dtype, {2, 1, 1, rope.head_dim});
    Tensor expected = one;
    for (std::int64_t i = 0; i < one.elements(); ++i) {
      const std::int64_t from = (i / rope.head_dim * 3 + token) * rope.head_dim + i % rope.head_dim;
      one.set(i, x.at(from));
      expected.set(i, whole.at(from));
    }
    outcome = close(asked.got(one, asked.positions({Rows(2, {token}), 1})), expected, usual_tolerance);
    if (!outcome.passes) return outcome;
  }
  const Rotated zero{{{0, 0}}, 1};
  outcome = close(asked.got(zero), asked.usual(zero), {1e-7, 0});
  if (!outcome.passes || !std::holds_alternative<DefaultScaling>(rope.rope_scaling)) return outcome;

  for (const auto& [factor, positions] : {std::pair{2.0, from_to(0, 3)}, {5.0, Positions{12}}}) {
    Spec scaled = asked.spec();
    held<Rope>(scaled)->rope_scaling = LinearScaling{.factor = factor};
    try {
      validate(scaled);
    } catch (const SpecError&) {
      continue;  // no such claim
    }
    const Tensor given = ones(std::ssize(positions), 2);
    outcome = close(Asked(subject, scaled, Dtype::float32).got(given, positions), of_usual(scaled, given, positions),
                    usual_tolerance);
    if (!outcome.passes) return outcome;
  }
  return {};
}

// Codes.
Ask encoded(double absolute, Positions positions) {
  return [=](const Subject& subject, const Spec& claim) {
    const Spec spec = in_dtype(claim, Dtype::float32);
    return close(encode(*subject.open(spec), spec, positions),
                 encode(*usual_implementation()->open(spec), spec, positions), {0, absolute});
  };
}

constexpr auto own = &Asked::by_own_table;
constexpr auto usual = &Asked::usual;
constexpr const char* shared = "the formula with the table that the subject was given";
constexpr const char* float32_code = "usual code in float32";

#define GITHUB "https://github.com/"

std::vector<Suite> made_suites() {
  const Dtype f32 = Dtype::float32;
  const Dtype f16 = Dtype::float16;
  const Dtype bf16 = Dtype::bfloat16;
  const Compare squares = [](const Tensor& got, const Tensor& expected) {
    return close_in_squares(got, expected, 1e-7);
  };
  return {
      {"vLLM", "tests/kernels/core/test_pos_encoding.py",
       GITHUB "vllm-project/vllm/blob/main/tests/kernels/core/test_pos_encoding.py", is_of<Rope>,
       "bfloat16 1e-3 + 1.6e-2 r, float32 1e-5 + 1.3e-6 r",
       "drawn below 8192: 5 rows of 11, 17 heads, and 1 row of 8192, 1 head", shared,
       every(
           {{bf16, within(1.6e-2, 1e-3)}, {f32, by_default}},
           {{{drawn(11, 8192, 1), drawn(11, 8192, 2), drawn(11, 8192, 3), drawn(11, 8192, 4), drawn(11, 8192, 5)}, 17},
            {{drawn(8192, 8192, 6)}, 1}},
           own)},
      {"SGLang", "sgl-kernel/tests/test_rotary_embedding.py",
       GITHUB "sgl-project/sglang/blob/main/sgl-kernel/tests/test_rotary_embedding.py", is_of<Rope>,
       "bfloat16 1e-2 + 1e-2 r", "0 to 511, 8 heads", shared,
       every({{bf16, within(1e-2, 1e-2)}}, {{{from_to(0, 512)}, 8}}, own)},
      {"FlashInfer", "tests/attention/test_rope.py, cos_sin_cache",
       GITHUB "flashinfer-ai/flashinfer/blob/main/tests/attention/test_rope.py", is_of<Rope>, "bfloat16 1e-2 + 1e-2 r",
       "0 to 511, 4 heads", shared, every({{bf16, within(1e-2, 1e-2)}}, {{{from_to(0, 512)}, 4}}, own)},
      {"FlashInfer", "tests/attention/test_rope.py, pos_ids",
       GITHUB "flashinfer-ai/flashinfer/blob/main/tests/attention/test_rope.py", is_of<Rope>, "float16 1e-3 + 1e-3 r",
       "3 rows of 99 up to 302, 4 heads", "the kernel itself", same_twice},
      {"FlashInfer", "tests/attention/test_rope.py, rope_quantize_fp8",
       GITHUB "flashinfer-ai/flashinfer/blob/main/tests/attention/test_rope.py", is_of<Rope>,
       "float16, bfloat16, rounded to e4m3 and to e5m2: 1e-2 + 2e-1 r", "0 to 2046, 2 heads", shared,
       every({{f16, in_eight_bits(e4m3, {2e-1, 1e-2})},
              {f16, in_eight_bits(e5m2, {2e-1, 1e-2})},
              {bf16, in_eight_bits(e4m3, {2e-1, 1e-2})},
              {bf16, in_eight_bits(e5m2, {2e-1, 1e-2})}},
             {{{from_to(0, 2047)}, 2}}, own)},
      {"FlashInfer", "tests/attention/test_rope.py, fp8 caches",
       GITHUB "flashinfer-ai/flashinfer/blob/main/tests/attention/test_rope.py", is_of<Rope>,
       "float16, bfloat16, rounded to e4m3: 5e-1 + 2.5e-1 r, to e5m2: 1 + 2.5e-1 r", "0 to 2046, 2 heads", shared,
       every({{f16, in_eight_bits(e4m3, {2.5e-1, 5e-1})},
              {f16, in_eight_bits(e5m2, {2.5e-1, 1})},
              {bf16, in_eight_bits(e4m3, {2.5e-1, 5e-1})},
              {bf16, in_eight_bits(e5m2, {2.5e-1, 1})}},
             {{{from_to(0, 2047)}, 2}}, own)},
      {"TransformerEngine", "tests/pytorch/test_fused_rope.py",
       GITHUB "NVIDIA/TransformerEngine/blob/main/tests/pytorch/test_fused_rope.py", is_of<Rope>,
       "assert_close of float32, bfloat16, float16", "2 rows of 256 up to 8191", shared,
       every({{f32, by_default}, {bf16, by_default}, {f16, by_default}}, {{{from_to(0, 256), from_to(7936, 8192)}, 1}},
             own)},
      {"Liger-Kernel", "test/transformers/test_rope.py, test_correctness",
       GITHUB "linkedin/Liger-Kernel/blob/main/test/transformers/test_rope.py", is_of<Rope>,
       "float32 1e-5 + 1e-5 r, bfloat16 1e-1 + 1e-5 r", "1 and 2 rows of 0 to 127, 32 heads; 3 of 0 to 422, 3 heads",
       shared,
       every({{f32, within(1e-5, 1e-5)}, {bf16, within(1e-5, 1e-1)}},
             {{Rows(1, from_to(0, 128)), 32}, {Rows(2, from_to(0, 128)), 32}, {Rows(3, from_to(0, 423)), 3}}, own)},
      {"Liger-Kernel", "test/transformers/test_rope.py, test_functional_correctness",
       GITHUB "linkedin/Liger-Kernel/blob/main/test/transformers/test_rope.py", is_of<Rope>,
       "float32 1e-5 + 1e-5 r, bfloat16 1e-1 + 1e-5 r", "0 to 1, 2 heads; 9 rows of 0 to 6, 41 heads",
       "the kernel itself", same_by_either_name},
      {"flash-attention", "tests/test_rotary.py", GITHUB "Dao-AILab/flash-attention/blob/main/tests/test_rotary.py",
       is_of<Rope>, "float16, bfloat16: 2 max(y + 0.3 - 0.3 - y) + 1e-3 r", "2 rows of 217, 4 heads", shared,
       every({{f16, close_by_rounding}, {bf16, close_by_rounding}}, {{{from_to(0, 217), from_to(0, 217)}, 4}}, own)},
      {"ONNX", "onnx/backend/test/case/node/rotaryembedding.py",
       GITHUB "onnx/onnx/blob/main/onnx/backend/test/case/node/rotaryembedding.py", is_of<Rope>,
       "float32 1e-7 + 1e-3 r", "2 rows of 3 below 50, 4 heads", shared,
       every({{f32, within(1e-3, 1e-7)}}, {{{drawn(3, 50, 1), drawn(3, 50, 2)}, 4}}, own)},
      {"ONNX Runtime", "onnxruntime/test/contrib_ops/rotary_embedding_op_test.cc",
       GITHUB "microsoft/onnxruntime/blob/main/onnxruntime/test/contrib_ops/rotary_embedding_op_test.cc", is_of<Rope>,
       "float32, float16 2e-3; bfloat16 3e-2", "2 rows of 8, 3 heads", shared,
       every({{f32, within(0, 2e-3)}, {f16, within(0, 2e-3)}, {bf16, within(0, 3e-2)}},
             {{{from_to(0, 8), from_to(8, 16)}, 3}}, own)},
      {"Hugging Face", "tests/utils/test_modeling_rope_utils.py",
       GITHUB "huggingface/transformers/blob/main/tests/utils/test_modeling_rope_utils.py", is_of<Rope>,
       "frequencies, float32 1e-5 + 1.3e-6 r", "none", "five digits", frequencies_of_five_digits},
      {"Hugging Face", "tests/models/llama/test_modeling_llama.py, test_model_rope_scaling",
       GITHUB "huggingface/transformers/blob/main/tests/models/llama/test_modeling_llama.py", is_of<Rope>,
       "assert_close of float32", "0 to 767, 2 heads", "itself: a prefix, and linear scaling", of_scaling},
      {"FlashInfer", "tests/trace/reference_utils.py",
       GITHUB "flashinfer-ai/flashinfer/blob/main/tests/trace/reference_utils.py", is_of<Rope>,
       "bfloat16 1e-2 + 1e-2 r, cosine above 0.999", "0 to 15, 4 heads", float32_code, of_short_calls},
      {"FlashInfer", "tests/attention/test_rope.py, apply_rope",
       GITHUB "flashinfer-ai/flashinfer/blob/main/tests/attention/test_rope.py", is_of<Rope>, "float16 1e-3 + 1e-3 r",
       "3 rows of 99 up to 302, 4 heads", float32_code,
       every({{f16, within(1e-3, 1e-3)}}, {{{from_to(0, 99), from_to(99, 198), from_to(204, 303)}, 4}}, usual)},
      {"Megatron-LM", "test_mla_yarn_rope_apply.py", GITHUB "NVIDIA/Megatron-LM/issues/4640", is_of<Rope>,
       "bfloat16 5e-2 + 2e-2 r", "0 to 127, 8 heads", float32_code,
       every({{bf16, within(2e-2, 5e-2)}}, {{{from_to(0, 128)}, 8}}, usual)},
      {"flash-attention", "tests/layers/test_rotary.py",
       GITHUB "Dao-AILab/flash-attention/blob/main/tests/layers/test_rotary.py", is_of<Rope>, "float16 5e-3 + 1e-3 r",
       "0 to 2047, 2 heads", float32_code, every({{f16, within(1e-3, 5e-3)}}, {{{from_to(0, 2048)}, 2}}, usual)},
      {"torchtune", "tests/torchtune/modules/test_position_embeddings.py",
       GITHUB "pytorch/torchtune/blob/main/tests/torchtune/modules/test_position_embeddings.py", is_of<Rope>,
       "mean, sum and maximum, float32 1e-4 + 1e-5 r", "0 to 2047, 2 heads", "three numbers", of_torchtune},
      {"keras-hub", "keras_hub/src/layers/modeling/rotary_embedding_test.py",
       GITHUB "keras-team/keras-hub/blob/master/keras_hub/src/layers/modeling/rotary_embedding_test.py", is_of<Rope>,
       "float32: ones 1e-2 + 1e-2 r; step by step and scaled 1e-6 + 1e-6 r; at position 0 1e-7 r",
       "0 and 3; 0 to 2; scaled by 2 0 to 2, by 5 12", "digits of float32 code; itself", of_keras},
      {"llama.cpp", "tests/test-backend-ops.cpp", GITHUB "ggml-org/llama.cpp/blob/master/tests/test-backend-ops.cpp",
       is_of<Rope>, "float32, float16: NMSE 1e-7", "2 tokens of 32 heads, 8192 of one, drawn below 512", float32_code,
       every({{f32, squares}, {f16, squares}},
             {{{drawn(2, 512, 1)}, 32}, {{drawn(2, 512, 2)}, 32}, {{drawn(8192, 512, 3)}, 1}}, usual)},
      {"llama.cpp", "tests/test-rope.cpp", GITHUB "ggml-org/llama.cpp/blob/master/tests/test-rope.cpp", is_of<Rope>,
       "float32: mean difference 1e-4", "67 to 239, 4 heads", "itself: the group law", group_law},
      {"MLX", "python/tests/test_fast.py, test_rope", GITHUB "ml-explore/mlx/blob/main/python/tests/test_fast.py",
       is_of<Rope>, "float32 1e-6, float16 1e-3, bfloat16 1e-2", "2 rows of 0 to 3, in float32 of 3 to 6, too",
       "usual code in float32, in 16 bits in the dtype, too", of_small_calls},
      {"MLX", "python/tests/test_fast.py, test_rope_batch and _single_batch",
       GITHUB "ml-explore/mlx/blob/main/python/tests/test_fast.py", is_of<Rope>, "float32 1e-5",
       "3, 8 and 11 rows of 4 from 0, 1, 2, ...; 2, 4 and 8 rows of 5; 1 to 7 heads", float32_code, of_batches},
      {"MLX", "python/tests/test_fast.py, test_rope_large_input",
       GITHUB "ml-explore/mlx/blob/main/python/tests/test_fast.py", is_of<Rope>, "float32 5e-3", "0 to 8191",
       float32_code, every({{f32, within(0, 5e-3)}}, {{{from_to(0, 8192)}, 1}}, usual)},
      {"MLX", "python/tests/test_fast.py, test_rope_with_large_offset",
       GITHUB "ml-explore/mlx/blob/main/python/tests/test_fast.py", is_of<Rope>, "bfloat16 1e-1", "4000 to 5023",
       "itself in float32", of_large_offset},
      {"litgpt", "tests/test_rope.py", GITHUB "Lightning-AI/litgpt/blob/main/tests/test_rope.py", is_of<Rope>,
       "assert_close of float32", "0 to 131071", float32_code,
       every({{f32, by_default}}, {{{from_to(0, 131072)}, 1}}, usual)},
      {"fairseq", "tests/test_positional_encoding.py",
       GITHUB "facebookresearch/fairseq/blob/main/tests/test_positional_encoding.py", is_of<Sinusoidal>, "float32 1e-4",
       "0 to 2", float32_code, encoded(1e-4, from_to(0, 3))},
      {"multidim-positional-encoding", "test_suite.py",
       GITHUB "tatp22/multidim-positional-encoding/blob/master/test_suite.py", is_of<Sinusoidal>, "float32 1e-4",
       "0 to 9", float32_code, encoded(1e-4, from_to(0, 10))},
  };
}

}  // namespace

std::span<const Suite> suites() {
  static const std::vector<Suite> all = made_suites();
  return all;
}

}  // namespace sextant::suites
