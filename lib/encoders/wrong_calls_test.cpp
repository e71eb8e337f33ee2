// Calls that do not fit, of every operation of every encoder: each is refused in the name of the function and of the
// argument as its signature has it, with nothing written. Over 400 lines: one table, whose lines are read alone.

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/attention/attention.hpp"
#include "lib/encoders/encoders.hpp"
#include "lib/qk_norm_rope/qk_norm_rope.hpp"

namespace sextant::encoders_wrong_calls_test {
namespace {

using Positions = std::vector<std::int64_t>;

// Casts give an enumeration any number.
constexpr auto no_dtype = static_cast<Dtype>(9);
constexpr auto no_rounding = static_cast<Rounding>(7);
constexpr std::int64_t beyond = (std::int64_t{1} << 53) + 1;

// What is said of them.
struct WrongDtype {
  Dtype dtype;
  std::string text;
};
const std::array<WrongDtype, 2> wrong_dtypes{
    {{Dtype::int64, "dtype int64 is not a floating dtype"}, {no_dtype, "dtype 9 is not a floating dtype"}}};

// Memory that calls may write, and must not.
class Guarded {
 public:
  std::byte* data() { return memory_.data(); }
  std::span<std::byte> bytes(std::size_t count) { return std::span(memory_).first(count); }
  bool is_untouched() const {
    return std::ranges::all_of(memory_, [](std::byte byte) { return byte == guard; });
  }

 private:
  static constexpr std::byte guard{0x5A};
  std::vector<std::byte> memory_ = std::vector<std::byte>(4096, guard);
};

void expect_refusal(Guarded& guarded, const std::string& message, const std::function<void()>& call) {
  std::string told = "accepted";
  try {
    call();
  } catch (const std::invalid_argument& error) {
    told = error.what();
  } catch (const std::out_of_range& error) {
    told = std::string("out of range: ") + error.what();
  }
  EXPECT_EQ(told, message);
  EXPECT_TRUE(guarded.is_untouched()) << message;
}

Tensor tensor_of(Dtype dtype, std::vector<std::int64_t> shape) { return Tensor::zeros(dtype, std::move(shape)); }

Rope rope_of_4() {
  Rope rope;
  rope.head_dim = rope.rotary_dim = 4;
  return rope;
}

// Two tokens of two heads.
Heads heads_at(std::byte* data, Dtype dtype) { return {dtype, data, 1, 2, 2, 4, 16, 8, 4}; }

// apply, in place too, and backward, of views and of tensors. `token` has a position for each of two tokens.
template <class Encoder>
void expect_vectors_refused(const std::string& name, const Encoder& encoder, const Positions& positions) {
  Guarded guarded;
  std::vector<std::byte> memory(4096);
  const ConstHeads x = read_only(heads_at(memory.data(), Dtype::float32));
  const Heads y = heads_at(guarded.data(), Dtype::float32);
  const auto refused = [&](const std::string& complaint, const std::function<void()>& call) {
    expect_refusal(guarded, name + ": " + complaint, call);
  };
  const auto changed = [](auto view, auto change) {
    change(view);
    return view;
  };
  for (const auto& [dtype, text] : wrong_dtypes) {
    const auto of_dtype = [dtype = dtype](auto& view) { view.dtype = dtype; };
    refused("x: " + text, [&] { encoder.apply(changed(x, of_dtype), positions, y); });
    refused("y: " + text, [&] { encoder.apply(x, positions, changed(y, of_dtype)); });
    refused("x: " + text, [&] { encoder.apply(changed(x, of_dtype), positions, changed(y, of_dtype)); });
    refused("x: " + text, [&] { encoder.apply(changed(y, of_dtype), positions); });
    refused("grad: " + text, [&] { encoder.backward(changed(x, of_dtype), positions, y); });
    refused("grad_x: " + text, [&] { encoder.backward(x, positions, changed(y, of_dtype)); });
    const Tensor tensor = tensor_of(dtype, {1, 2, 2, 4});
    refused("x: " + text, [&] { encoder.rotate(tensor, positions); });
    refused("grad: " + text, [&] { encoder.backward(tensor, positions); });
    if constexpr (requires { encoder.rotate(tensor, positions, guarded.bytes(1)); })
      refused("x: " + text, [&] { encoder.rotate(tensor, positions, guarded.bytes(128)); });
  }
  const auto stretched = [](auto& view) { view.token_stride = std::int64_t{1} << 60; };
  const std::string too_large = "tokens 2 with token_stride 1152921504606846976 is too large an extent";
  refused("x: " + too_large, [&] { encoder.apply(changed(x, stretched), positions, y); });
  refused("grad_x: " + too_large, [&] { encoder.backward(x, positions, changed(y, stretched)); });
  const auto backwards = [](auto& view) { view.head_stride = -4; };
  refused("y: head_stride -4 is negative", [&] { encoder.apply(x, positions, changed(y, backwards)); });
  const auto close = [](auto& view) { view.head_stride = 3; };
  refused("x: head_stride 3 makes two elements one, expected at least 4",
          [&] { encoder.apply(changed(y, close), positions); });
  refused("grad_x: head_stride 3 makes two elements one, expected at least 4",
          [&] { encoder.backward(x, positions, changed(y, close)); });
  const auto narrow = [](auto& view) { view.head_dim = 2; };
  refused("grad: head_dim is 2, that of the encoding 4", [&] { encoder.backward(changed(x, narrow), positions, y); });
  const auto halved = [](auto& view) { view.dtype = Dtype::float16; };
  refused("grad_x: dtype is float16, that of grad float32",
          [&] { encoder.backward(x, positions, changed(y, halved)); });
  const auto single = [](auto& view) { view.heads = 1; };
  refused("grad_x: extents are [1, 2, 1, 4], those of grad [1, 2, 2, 4]",
          [&] { encoder.backward(x, positions, changed(y, single)); });
  const auto apart = [](auto& view) { view.token_stride = 12; };
  refused("y: data is that of x, expected its strides too",
          [&] { encoder.apply(read_only(y), positions, changed(y, apart)); });
  refused("grad_x: partly overlaps grad", [&] {
    const Heads later = heads_at(guarded.data() + 4, Dtype::float32);
    encoder.backward(read_only(y), positions, later);
  });
  const Tensor flat = tensor_of(Dtype::float32, {2, 2, 4});
  refused("x has shape [2, 2, 4], expected [batch, n, heads, 4]", [&] { encoder.rotate(flat, positions); });
  refused("grad has shape [2, 2, 4], expected [batch, n, heads, 4]", [&] { encoder.backward(flat, positions); });
  const std::string numbers = positions.size() == 2 ? "1 of them for " : "1 of them for 2 axes of ";
  refused("positions: " + numbers + "1 x 2 tokens of grad", [&] { encoder.backward(x, Positions{0}, y); });
  Positions far = positions;
  far.back() = beyond;
  expect_refusal(guarded, "out of range: " + name + ": positions: 9007199254740993 is outside +-2^53",
                 [&] { encoder.apply(x, far, y); });
  if constexpr (requires { encoder.rotate(flat, positions, guarded.bytes(1)); }) {
    const Tensor tensor = tensor_of(Dtype::float32, {1, 2, 2, 4});
    refused("out has 60 bytes, 16 elements of float32 have 64",
            [&] { encoder.rotate(tensor, positions, guarded.bytes(60)); });
  }
}

TEST(WrongCalls, OfRotations) {
  expect_vectors_refused("RopeEncoder", RopeEncoder(rope_of_4()), {0, 1});
  Xpos xpos;
  xpos.rope = rope_of_4();
  expect_vectors_refused("XposEncoder", XposEncoder(xpos), {0, 1});
  RopeNd two_axes;
  two_axes.rope = rope_of_4();
  two_axes.sections = {1, 1};
  expect_vectors_refused("RopeNdEncoder", RopeNdEncoder(two_axes), {0, 1, 2, 3});
}

TEST(WrongCalls, OfRopeAlone) {
  const RopeEncoder encoder(rope_of_4());
  const Positions positions{0, 1};
  Guarded guarded;
  std::vector<std::byte> memory(4096);
  const Heads x = heads_at(memory.data(), Dtype::float32);
  const Heads y = heads_at(guarded.data(), Dtype::float32);
  const Tensor tensor = tensor_of(Dtype::float32, {1, 2, 2, 4});
  const std::string rounding = "RopeEncoder: rounding: 7 is neither certified nor fast";
  expect_refusal(guarded, rounding, [&] { encoder.apply(read_only(x), positions, y, no_rounding); });
  expect_refusal(guarded, rounding, [&] { encoder.apply(y, positions, no_rounding); });
  expect_refusal(guarded, rounding, [&] { encoder.backward(read_only(x), positions, y, no_rounding); });
  expect_refusal(guarded, rounding, [&] { encoder.rotate(tensor, positions, no_rounding); });
  expect_refusal(guarded, rounding, [&] { encoder.backward(tensor, positions, no_rounding); });
  const Rows cos{Dtype::float32, guarded.data(), 2, 2, 2};
  Rows sin{Dtype::float32, guarded.data() + 64, 2, 2, 2};
  for (const auto& [dtype, text] : wrong_dtypes) {
    Rows wrong = cos;
    wrong.dtype = dtype;
    expect_refusal(guarded, "cos: " + text, [&] { encoder.tables(positions, wrong, sin); });
    wrong = sin;
    wrong.dtype = dtype;
    expect_refusal(guarded, "sin: " + text, [&] { encoder.tables(positions, cos, wrong); });
  }
}

TEST(WrongCalls, OfNormAndRotation) {
  QkNormRope encoding;
  encoding.rope = rope_of_4();
  const QkNormRopeEncoder encoder(encoding);
  const Positions positions{0, 1};
  Guarded guarded;
  std::vector<std::byte> memory(4096);
  const Heads x = heads_at(memory.data(), Dtype::float32);
  const Heads y = heads_at(guarded.data(), Dtype::float32);
  const Tensor weight = tensor_of(Dtype::float32, {4});
  const auto refused = [&](const std::string& complaint, const std::function<void()>& call) {
    expect_refusal(guarded, "QkNormRopeEncoder: " + complaint, call);
  };
  const Tensor q = tensor_of(Dtype::float32, {1, 2, 2, 4});
  const auto apply = [&](const Tensor& own_q, const Tensor& k, const Tensor& q_weight, const Tensor& k_weight) {
    return [&, encoder] { encoder.apply({own_q, k, q_weight, k_weight, positions}); };
  };
  for (const auto& [dtype, text] : wrong_dtypes) {
    Heads wrong_x = x;
    Heads wrong_y = y;
    wrong_x.dtype = wrong_y.dtype = dtype;
    refused("x: " + text, [&] { encoder.apply(read_only(wrong_x), weight, positions, y); });
    refused("y: " + text, [&] { encoder.apply(read_only(x), weight, positions, wrong_y); });
    refused("x: " + text, [&] { encoder.apply(read_only(wrong_x), weight, positions, wrong_y); });
    refused("x: " + text, [&] { encoder.apply(wrong_y, weight, positions); });
    const Tensor wrong = tensor_of(dtype, {4});
    refused("weight: " + text, [&] { encoder.apply(read_only(x), wrong, positions, y); });
    refused("weight: " + text, [&] { encoder.apply(y, wrong, positions); });
    refused("q_weight: " + text, apply(q, q, wrong, weight));
    refused("k_weight: " + text, apply(q, q, weight, wrong));
    const Tensor vectors = tensor_of(dtype, {1, 2, 2, 4});
    refused("q: " + text, apply(vectors, q, weight, weight));
    refused("k: " + text, apply(q, vectors, weight, weight));
  }
  const Tensor half = tensor_of(Dtype::float16, {4});
  const Tensor long_weight = tensor_of(Dtype::float32, {8});
  refused("weight: dtype is float16, that of x float32", [&] { encoder.apply(y, half, positions); });
  refused("q_weight: dtype is float16, that of q float32", apply(q, q, half, weight));
  refused("k_weight has shape [8], expected [4]", apply(q, q, weight, long_weight));
  const Tensor bfloat = tensor_of(Dtype::bfloat16, {1, 2, 1, 4});
  refused("k_weight: dtype is float32, that of k bfloat16", apply(q, bfloat, weight, weight));
  const Tensor longer = tensor_of(Dtype::float32, {1, 3, 1, 4});
  refused("k has 1 x 3 tokens, q 1 x 2", apply(q, longer, weight, weight));
  refused("positions: 2 of them for 1 x 3 tokens of q", apply(longer, longer, weight, weight));
  const Tensor wide = tensor_of(Dtype::float32, {1, 2, 1, 6});
  refused("k has shape [1, 2, 1, 6], expected [batch, n, heads, 4]", apply(q, wide, weight, weight));
}

// encode into rows, into memory and as a tensor. `positions` are of two rows, `dim` wide.
template <class Encoder>
void expect_codes_refused(const std::string& name, const Encoder& encoder, const Positions& positions,
                          std::int64_t dim) {
  Guarded guarded;
  const Rows good{Dtype::float32, guarded.data(), 2, dim, dim};
  for (const auto& [dtype, text] : wrong_dtypes) {
    Rows wrong = good;
    wrong.dtype = dtype;
    expect_refusal(guarded, "out: " + text, [&] { encoder.encode(positions, wrong); });
    expect_refusal(guarded, name + "::encode: " + text, [&, dtype = dtype] { encoder.encode(positions, dtype); });
    if constexpr (requires { encoder.encode(positions, Dtype::float32, guarded.bytes(1)); }) {
      expect_refusal(guarded, name + "::encode: " + text, [&, dtype = dtype] {
        encoder.encode(positions, dtype, guarded.bytes(static_cast<std::size_t>(2 * dim) * 8));
      });
    }
  }
}

TEST(WrongCalls, OfCodes) {
  expect_codes_refused("IntegerEncoder", IntegerEncoder({4, false}, 8), {0, 1}, 4);
  expect_codes_refused("BinaryEncoder", BinaryEncoder({4, false}), {0, 1}, 4);
  Sinusoidal sinusoidal;
  sinusoidal.dim = 4;
  const SinusoidalEncoder encoder(sinusoidal);
  expect_codes_refused("SinusoidalEncoder", encoder, {0, 1}, 4);
  Sinusoidal2d of_grid;
  of_grid.dim = 8;
  of_grid.height = of_grid.width = 2;
  expect_codes_refused("Sinusoidal2dEncoder", Sinusoidal2dEncoder(of_grid), {0, 1, 1, 0}, 8);
  const auto code_of = []<class Encoding>(const char* json, const Encoding*) {
    return std::get<Encoding>(parse_spec(json).encoding);
  };
  const auto of_axes = code_of(R"({"encoding":"sinusoidal_nd","dim":8,"extents":[2,2]})", (const SinusoidalNd*)nullptr);
  expect_codes_refused("SinusoidalNdEncoder", SinusoidalNdEncoder(of_axes), {0, 1, 1, 0}, 8);
  const auto fourier = code_of(R"({"encoding":"fourier","axes":1,"bands":2})", (const Fourier*)nullptr);
  expect_codes_refused("FourierEncoder", FourierEncoder(fourier), {0, 1}, signature_of(Encoding(fourier)).dim.value());
  const auto offsets = code_of(R"({"encoding":"log_coordinates","window":[4,4]})", (const LogCoordinates*)nullptr);
  expect_codes_refused("LogCoordinatesEncoder", LogCoordinatesEncoder(offsets), {0, 1, 1, 0}, 2);

  Guarded guarded;
  const Rows out{Dtype::float32, guarded.data(), 2, 4, 4};
  const std::string rounding = "SinusoidalEncoder::encode: rounding: 7 is neither certified nor fast";
  expect_refusal(guarded, rounding, [&] { encoder.encode(Positions{0, 1}, out, no_rounding); });
  expect_refusal(guarded, rounding, [&] { encoder.encode(PositionRange{0, 2, 1}, out, no_rounding); });
  expect_refusal(guarded, rounding, [&] { encoder.encode(Positions{0, 1}, Dtype::float32, no_rounding); });
}

TEST(WrongCalls, OfLearnedRows) {
  const LearnedEncoder encoder({.dim = 4, .max_positions = 3});
  const Positions positions{0, 2};
  Guarded guarded;
  const Rows out{Dtype::float32, guarded.data(), 2, 4, 4};
  const std::string encode = "LearnedEncoder::encode: ";
  const std::string grad_weight = "LearnedEncoder::grad_weight: ";
  for (const auto& [dtype, text] : wrong_dtypes) {
    const Tensor weight = tensor_of(dtype, {3, 4});
    expect_refusal(guarded, encode + "weight: " + text, [&] { encoder.encode(positions, weight, out); });
    expect_refusal(guarded, encode + "weight: " + text, [&] { encoder.encode(positions, weight, guarded.bytes(64)); });
    expect_refusal(guarded, encode + "weight: " + text, [&] { encoder.encode(positions, weight); });
    Rows wrong = out;
    wrong.dtype = dtype;
    expect_refusal(guarded, "out: " + text, [&] {
      encoder.encode(positions, tensor_of(Dtype::float32, {3, 4}), wrong);
    });
    const Tensor grad = tensor_of(dtype, {2, 4});
    expect_refusal(guarded, grad_weight + "grad: " + text, [&] { encoder.grad_weight(positions, grad); });
  }
  expect_refusal(guarded, "out of range: " + encode + "positions: 3 is not one of the 3 learned", [&] {
    encoder.encode(Positions{0, 3}, tensor_of(Dtype::float32, {3, 4}), out);
  });
}

TEST(WrongCalls, OfFourierWeights) {
  const Spec spec = parse_spec(R"({"encoding":"fourier","axes":1,"bands":2,"ladder":"weight"})");
  const FourierEncoder encoder(std::get<Fourier>(spec.encoding));
  const std::int64_t dim = width_of(spec.encoding).value();
  Guarded guarded;
  const Rows out{Dtype::float32, guarded.data(), 1, dim, dim};
  const Positions one{1};
  for (const auto& [dtype, text] : wrong_dtypes) {
    const Tensor weight = tensor_of(dtype, {1, 2});
    const std::string message = "FourierEncoder::encode: weight: " + text;
    expect_refusal(guarded, message, [&] { encoder.encode(one, weight, out); });
    expect_refusal(guarded, message, [&] { encoder.encode(one, weight, guarded.bytes(64)); });
    expect_refusal(guarded, message, [&] { encoder.encode(one, weight); });
  }
}

// bias into memory and as a tensor, and grad_weight.
template <class Encoder>
void expect_biases_refused(const std::string& name, const Encoder& encoder, std::int64_t rows, std::int64_t far,
                           const std::string& why) {
  Guarded guarded;
  const Positions one{0};
  const Positions further{far};
  const std::string bias = name + "::bias: ";
  const std::string grad_weight = name + "::grad_weight: ";
  for (const auto& [dtype, text] : wrong_dtypes) {
    const Tensor weight = tensor_of(dtype, {rows, 2});
    expect_refusal(guarded, bias + "weight: " + text, [&] { encoder.bias(one, one, weight, guarded.bytes(16)); });
    expect_refusal(guarded, bias + "weight: " + text, [&] { encoder.bias(one, one, weight); });
    const Tensor grad = tensor_of(dtype, {2, 1, 1});
    expect_refusal(guarded, grad_weight + "grad: " + text, [&] { encoder.grad_weight(one, one, grad); });
  }
  const Tensor weight = tensor_of(Dtype::float32, {rows, 2});
  const Tensor grad = tensor_of(Dtype::float32, {2, 1, 1});
  const std::string number = std::to_string(far);
  expect_refusal(guarded, "out of range: " + bias + "query_positions: " + number + why,
                 [&] { encoder.bias(further, one, weight, guarded.bytes(8)); });
  expect_refusal(guarded, "out of range: " + bias + "key_positions: " + number + why,
                 [&] { encoder.bias(one, further, weight, guarded.bytes(8)); });
  expect_refusal(guarded, "out of range: " + grad_weight + "key_positions: " + number + why,
                 [&] { encoder.grad_weight(one, further, grad); });
  Tensor negative = weight;
  negative.shape = {rows, -2};
  expect_refusal(guarded, bias + "weight: shape [" + std::to_string(rows) + ", -2]: negative extent",
                 [&] { encoder.bias(one, one, negative); });
}

TEST(WrongCalls, OfBiases) {
  expect_biases_refused("RelativeBiasEncoder", RelativeBiasEncoder({32, 128, true}), 32, beyond, " is beyond 2^53");
  expect_biases_refused("WindowBiasEncoder", WindowBiasEncoder({{3, 3}, ClassToken::none}), 25, 9,
                        " is not one of the window's 9 tokens");
  const AlibiEncoder alibi({2, Mask::causal, AlibiForm::distance});
  Guarded guarded;
  const Positions one{0};
  for (const auto& [dtype, text] : wrong_dtypes) {
    const std::string message = "AlibiEncoder::bias: " + text;
    expect_refusal(guarded, message, [&, dtype = dtype] { alibi.bias(one, one, dtype, guarded.bytes(16)); });
    expect_refusal(guarded, message, [&, dtype = dtype] { alibi.bias(one, one, dtype); });
    expect_refusal(guarded, "AlibiEncoder::slope: " + text, [&, dtype = dtype] { alibi.slope(0, dtype); });
  }
  expect_refusal(guarded, "out of range: AlibiEncoder::slope: head: 2 is none of 2",
                 [&] { alibi.slope(2, Dtype::float32); });
  expect_refusal(guarded, "out of range: AlibiEncoder::bias: key_positions: 9007199254740993 is beyond 2^53",
                 [&] { alibi.bias(one, Positions{beyond}, Dtype::float32, guarded.bytes(8)); });
}

TEST(WrongCalls, OfAttention) {
  Attention encoding;
  encoding.num_heads = encoding.num_kv_heads = 2;
  encoding.head_dim = 4;
  encoding.sinks = true;
  encoding.position = RelativeBias{8, 20, true};
  const DotProductAttention attention(encoding);
  Guarded guarded;
  const Positions positions{0, 1};
  struct Call {
    Tensor q = tensor_of(Dtype::float32, {1, 2, 2, 4});
    Tensor k = q;
    Tensor v = q;
    Tensor weight = tensor_of(Dtype::float32, {8, 2});
    Tensor sinks = tensor_of(Dtype::float32, {2});
    Tensor grad = q;
  };
  const auto refused = [&](const std::string& complaint, Tensor Call::*argument, const Tensor& wrong) {
    Call call;
    call.*argument = wrong;
    const AttentionInputs inputs{
        .q = call.q, .k = call.k, .v = call.v, .positions = positions, .weight = &call.weight, .sinks = &call.sinks};
    if (argument != &Call::grad) {
      const std::string message = "DotProductAttention::attend: " + complaint;
      expect_refusal(guarded, message, [&] { attention.attend(inputs, guarded.bytes(64)); });
      expect_refusal(guarded, message, [&] { attention.attend(inputs); });
    }
    expect_refusal(guarded, "DotProductAttention::backward: " + complaint,
                   [&] { attention.backward(inputs, call.grad); });
  };
  for (const auto& [dtype, text] : wrong_dtypes) {
    const Tensor vectors = tensor_of(dtype, {1, 2, 2, 4});
    refused("q: " + text, &Call::q, vectors);
    refused("k: " + text, &Call::k, vectors);
    refused("v: " + text, &Call::v, vectors);
    refused("grad: " + text, &Call::grad, vectors);
    refused("weight: " + text, &Call::weight, tensor_of(dtype, {8, 2}));
    refused("sinks: " + text, &Call::sinks, tensor_of(dtype, {2}));
  }
  refused("k: dtype is float64, that of q float32", &Call::k, tensor_of(Dtype::float64, {1, 2, 2, 4}));
  refused("grad: dtype is float64, that of q float32", &Call::grad, tensor_of(Dtype::float64, {1, 2, 2, 4}));
}

TEST(WrongCalls, OfAttentionNameWhatIsMissingOrTooMuch) {
  Attention encoding;
  encoding.num_heads = encoding.num_kv_heads = 1;
  encoding.head_dim = 4;
  Attention with_all = encoding;
  with_all.sinks = true;
  with_all.position = RelativeBias{8, 20, true};
  Guarded guarded;
  const Tensor one = tensor_of(Dtype::float32, {1, 1, 1, 4});
  const Tensor four = tensor_of(Dtype::float32, {1, 1, 4, 4});
  const Tensor weight = tensor_of(Dtype::float32, {8, 1});
  const Tensor sinks = tensor_of(Dtype::float32, {1});
  const Positions all{0, 1, 2, 3};
  const Positions late{9};
  const Positions early{2};
  const auto refused = [&](const Attention& of, const std::string& complaint, const AttentionInputs& inputs) {
    expect_refusal(guarded, "DotProductAttention::attend: " + complaint,
                   [&] { DotProductAttention(of).attend(inputs, guarded.bytes(inputs.q.data.size())); });
  };
  refused(with_all, "query_positions: 0 of them, expected 1",
          {.q = one, .k = four, .v = four, .positions = all, .weight = &weight, .sinks = &sinks});
  refused(with_all, "weight: none, expected that of relative_bias",
          {.q = four, .k = four, .v = four, .positions = all, .sinks = &sinks});
  refused(encoding, "weight: given, but no position of the spec has one",
          {.q = four, .k = four, .v = four, .positions = all, .weight = &weight});
  refused(with_all, "sinks: none, expected one for each head",
          {.q = four, .k = four, .v = four, .positions = all, .weight = &weight});
  refused(encoding, "sinks: given, but the spec has none",
          {.q = four, .k = four, .v = four, .positions = all, .sinks = &sinks});
  refused(encoding, "starts and ends: of batch row 0 they are 9 and 4, expected 0 or more tokens within 0 to 4",
          {.q = four, .k = four, .v = four, .positions = all, .starts = late});
  refused(encoding, "starts and ends: of batch row 0 they are 0 and 9, expected 1 or more tokens within 0 to 4",
          {.q = one, .k = four, .v = four, .positions = all, .ends = late});
  expect_refusal(
      guarded,
      "DotProductAttention::backward: query_positions, starts and ends: expected none, and as many keys as queries",
      [&] {
        DotProductAttention(encoding).backward({.q = four, .k = four, .v = four, .positions = all, .starts = early},
                                               four);
      });
}

}  // namespace
}  // namespace sextant::encoders_wrong_calls_test
