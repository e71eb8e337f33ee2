#include <gtest/gtest.h>
#include <omp.h>

#include <cfenv>
#include <cmath>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "lib/alibi/alibi.hpp"
#include "lib/attention/attention.hpp"
#include "lib/binary/binary.hpp"
#include "lib/fourier/fourier.hpp"
#include "lib/integer/integer.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/learned/learned.hpp"
#include "lib/log_coordinates/log_coordinates.hpp"
#include "lib/numeric/environment_test.hpp"
#include "lib/qk_norm_rope/qk_norm_rope.hpp"
#include "lib/relative_bias/relative_bias.hpp"
#include "lib/rope/rope.hpp"
#include "lib/rope_nd/rope_nd.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"
#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"
#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"
#include "lib/window_bias/window_bias.hpp"
#include "lib/xpos/xpos.hpp"

// Whatever floating-point environment callers come with, encoders give the bits that they give in the default one, and
// leave it as it was.

namespace sextant::environment_test {
namespace {

Spec spec_of(const std::string& text) { return parse_spec(text); }

// Every encoder set up and called, in every dtype, on inputs that are drawn beforehand: rounding borders, subnormals,
// zeros.
class EveryEncoder {
 public:
  EveryEncoder() {
    for (std::int64_t i = 0; i <= tokens; ++i) positions_.push_back(i * i % 3001 - 17);
    std::iota(range_.begin(), range_.end(), 0);
    for (const Dtype dtype : floating_dtypes) {
      heads_.push_back(random_tensor(dtype, {1, tokens, 2, 64}, 5));
      // Of subnormals, of which float64's are left to the last tier: half a millisecond each.
      heads_.push_back(random_tensor(dtype, {1, 2, 1, 64}, 5, std::ldexp(1.0, format_of(dtype).min_exponent - 1)));
      // Of ordinary vectors and of subnormals, with a weight that is subnormal in each.
      for (int i = 0; i < 2; ++i) {
        gains_.push_back(random_tensor(dtype, {64}, 9));
        gains_.back().set(0, std::ldexp(1.0, format_of(dtype).min_exponent - 2));
      }
      weights_.push_back(random_tensor(dtype, {32, 4}, 6));
      queries_.push_back(random_tensor(dtype, {1, 4, 70, 16}, 7));
      window_grads_.push_back(random_tensor(dtype, {3, 20, 20}, 11));
      matrices_.push_back(random_tensor(dtype, {2, 4}, 3));
      matrices_.back().set(0, std::ldexp(1.0, format_of(dtype).min_exponent - 3));
    }
    // Weights of an attention in float32 that have to be rounded themselves.
    float64_weight_ = random_tensor(Dtype::float64, {32, 4}, 8);
  }

  std::vector<std::byte> run() const {
    std::vector<std::byte> all;
    const auto keep = [&](const Tensor& tensor) { all.insert(all.end(), tensor.data.begin(), tensor.data.end()); };
    for (const double scale : {1.0, 1e-40, 3e-308}) {
      Sinusoidal encoding;
      encoding.dim = 64;
      encoding.scale = scale;
      const SinusoidalEncoder encoder(encoding);
      const std::int64_t rows = scale < 1e-200 ? 2 : 3 * tokens;
      for (const Dtype dtype : floating_dtypes) {
        Tensor table = Tensor::zeros(dtype, {rows, 64});
        encoder.encode(PositionRange{-100, rows, 1}, {dtype, table.data.data(), rows, 64, 64});
        keep(table);
        if (rows > tokens) keep(encoder.encode(positions_, dtype));
      }
    }
    Sinusoidal2d grid;
    grid.dim = 32;
    grid.height = grid.width = 40;
    const SinusoidalNdEncoder normalized(
        std::get<SinusoidalNd>(spec_of(R"({"encoding":"sinusoidal_nd","dim":32,"extents":[40,41],"position_offset":1,)"
                                       R"("coordinates":"normalized"})")
                                   .encoding));
    const FourierEncoder features(std::get<Fourier>(
        spec_of(R"({"encoding":"fourier","axes":2,"bands":5,"highest":7,"angle_unit":"turn","identity":"first",)"
                R"("position_dtype":"float64"})")
            .encoding));
    const FourierEncoder matrix(std::get<Fourier>(
        spec_of(R"({"encoding":"fourier","bands":4,"ladder":"weight","coordinates":"centres","extents":[4000,4001]})")
            .encoding));
    const std::vector<std::int64_t> coordinates(range_.begin(), range_.begin() + 80);
    // Rows enough that elements are kept, and too few.
    for (const char* window : {"[8]", "[40]", "[3000]"}) {
      const LogCoordinatesEncoder logarithms(std::get<LogCoordinates>(
          spec_of(std::string(R"({"encoding":"log_coordinates","window":)") + window + "}").encoding));
      for (const Dtype dtype : floating_dtypes) {
        std::vector<std::int64_t> offsets;
        for (std::int64_t i = 0; i < 7000; ++i) offsets.push_back(i * 31 % 15 - 7);
        keep(logarithms.encode(offsets, dtype));
        keep(logarithms.encode(std::vector<std::int64_t>{-7, 5, 3}, dtype));
      }
    }
    const WindowBiasEncoder window(
        std::get<WindowBias>(spec_of(R"({"encoding":"window_bias","window":[5,4]})").encoding));
    const std::vector<std::int64_t> places(range_.begin(), range_.begin() + 20);
    for (const Tensor& grad : window_grads_) keep(window.grad_weight(places, places, grad));
    for (const Tensor& weight : matrices_)
      keep(matrix.encode(std::vector<std::int64_t>{0, 7, 3999, 2000, 0, 11, 4000, 2}, weight));
    for (const Dtype dtype : floating_dtypes) {
      keep(features.encode(coordinates, dtype));
      keep(Sinusoidal2dEncoder(grid).encode(coordinates, dtype));
      keep(normalized.encode(coordinates, dtype));
      keep(IntegerEncoder({.dim = 2, .normalize = true}, 3001).encode(range_, dtype));
      keep(BinaryEncoder({.dim = 12}).encode(range_, dtype));
    }
    for (const char* scaling :
         {R"({"rope_type":"default"})",
          R"({"rope_type":"yarn","factor":40,"original_max_position_embeddings":4096,"truncate":false})",
          R"({"rope_type":"dynamic","factor":2,"original_max_position_embeddings":1000})",
          R"({"rope_type":"llama3","factor":8,"original_max_position_embeddings":8192,)"
          R"("low_freq_factor":1,"high_freq_factor":4})"}) {
      const Spec spec = spec_of(std::string(R"({"encoding":"rope","head_dim":64,"rope_scaling":)") + scaling + "}");
      const RopeEncoder encoder(std::get<Rope>(spec.encoding));
      for (const Tensor& x : heads_) {
        const std::span<const std::int64_t> positions = positions_of(x);
        keep(encoder.rotate(x, positions));
        keep(encoder.backward(x, positions));
        Tensor cos = Tensor::zeros(x.dtype, {tokens, 32});
        Tensor sin = cos;
        encoder.tables({positions_.data(), tokens}, {x.dtype, cos.data.data(), tokens, 32, 32},
                       {x.dtype, sin.data.data(), tokens, 32, 32});
        keep(cos);
        keep(sin);
      }
    }
    const RopeNdEncoder rope_nd(
        std::get<RopeNd>(spec_of(R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16]})").encoding));
    for (const char* base : {"512", "64"}) {
      const XposEncoder xpos(std::get<Xpos>(
          spec_of(std::string(R"({"encoding":"xpos","head_dim":64,"scale_base":)") + base + "}").encoding));
      for (const Tensor& x : heads_) {
        const std::span<const std::int64_t> positions = positions_of(x);
        std::vector<std::int64_t> two_axes(positions.begin(), positions.end());
        two_axes.insert(two_axes.end(), range_.begin(), range_.begin() + std::ssize(positions));
        keep(xpos.rotate(x, positions));
        keep(xpos.backward(x, positions));
        keep(rope_nd.rotate(x, two_axes));
        keep(rope_nd.backward(x, two_axes));
      }
    }
    const QkNormRopeEncoder norm(
        std::get<QkNormRope>(spec_of(R"({"encoding":"qk_norm_rope","head_dim":64})").encoding));
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      const Tensor& x = heads_[i];
      Tensor y = Tensor::zeros(x.dtype, x.shape);
      norm.apply(heads_of(x), gains_[i], positions_of(x), heads_of(y));
      keep(y);
    }
    const AlibiEncoder alibi(std::get<Alibi>(spec_of(R"({"encoding":"alibi","num_heads":12})").encoding));
    const RelativeBiasEncoder relative(std::get<RelativeBias>(spec_of(R"({"encoding":"relative_bias"})").encoding));
    const LearnedEncoder learned(
        std::get<Learned>(spec_of(R"({"encoding":"learned","dim":4,"max_positions":32})").encoding));
    const std::vector<std::int64_t> keys(range_.begin(), range_.begin() + 32);
    std::vector<std::int64_t> repeated(128);
    for (std::size_t i = 0; i < repeated.size(); ++i) repeated[i] = static_cast<std::int64_t>(i % 5);
    for (const Tensor& weight : weights_) {
      keep(alibi.bias(keys, keys, weight.dtype));
      for (std::int64_t head = 0; head < 12; ++head) {
        Tensor slope = Tensor::zeros(Dtype::float64, {1});
        const double value = alibi.slope(head, weight.dtype);
        std::memcpy(slope.data.data(), &value, sizeof value);
        keep(slope);
      }
      keep(relative.bias(keys, keys, weight));
      keep(learned.encode(keys, weight));
    }
    for (const Tensor& x : queries_) {
      const Tensor grad{x.dtype,
                        {4, 28, 40},
                        {x.data.begin(), x.data.begin() + static_cast<std::ptrdiff_t>(4 * 28 * 40 * size_of(x.dtype))}};
      keep(relative.grad_weight({range_.data(), 28}, {range_.data(), 40}, grad));
      const Tensor rows{x.dtype,
                        {128, 4},
                        {x.data.begin(), x.data.begin() + static_cast<std::ptrdiff_t>(128 * 4 * size_of(x.dtype))}};
      keep(learned.grad_weight(repeated, rows));
    }
    for (const char* position :
         {R"({"encoding":"rope","head_dim":16})", R"({"encoding":"alibi","num_heads":4,"mask":"symmetric"})",
          R"({"encoding":"relative_bias"})"}) {
      const Spec spec =
          spec_of(std::string(R"({"encoding":"attention","num_heads":4,"head_dim":16,"position":)") + position + "}");
      const DotProductAttention attention(std::get<Attention>(spec.encoding));
      const bool weighted = std::string(position).find("relative") != std::string::npos;
      for (const Tensor& x : queries_) {
        keep(attention.attend({x, x, x, {range_.data(), 70}, weighted ? &float64_weight_ : nullptr}));
      }
    }
    return all;
  }

 private:
  static constexpr std::int64_t tokens = 300;

  std::span<const std::int64_t> positions_of(const Tensor& x) const {
    return {positions_.data() + 1, static_cast<std::size_t>(x.shape[1])};
  }

  std::vector<std::int64_t> positions_;
  std::vector<std::int64_t> range_ = std::vector<std::int64_t>(3 * tokens);
  std::vector<Tensor> heads_;
  std::vector<Tensor> weights_;
  std::vector<Tensor> gains_;  // of heads_
  std::vector<Tensor> queries_;
  std::vector<Tensor> matrices_;
  std::vector<Tensor> window_grads_;
  Tensor float64_weight_;
};

class StandardArithmeticOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(StandardArithmeticOn);

TEST_P(StandardArithmeticOn, EveryEncoderIsTheSameInAnyEnvironment) {
  const EveryEncoder every;
  const int before = omp_get_max_threads();
  const std::vector<std::byte> expected = every.run();
  for (const Environment& environment : environments()) {
    for (const int threads : {1, 3}) {
      omp_set_num_threads(threads);
      std::fenv_t saved;
      std::fegetenv(&saved);
      environment.enter();
      const auto entered = control();
      const std::vector<std::byte> got = every.run();
      const auto left = control();
      std::fesetenv(&saved);
      EXPECT_TRUE(got == expected) << environment.name << " on " << threads << " threads";
      EXPECT_EQ(left, entered) << environment.name << ": the caller's environment is another one";
    }
  }
  omp_set_num_threads(before);
}

// A decimal is the nearest double, and a subnormal not 0.
TEST(StandardArithmetic, SpecsAreReadAndCheckedInIt) {
  const std::string text =
      R"({"encoding":"rope","head_dim":8,"rope_theta":10000.1,"rope_scaling":{"rope_type":"longrope",)"
      R"("short_factor":[0.1,0.2,0.3,0.7],"long_factor":[1,2,3,4],"original_max_position_embeddings":4096,)"
      R"("attention_factor":5e-324}})";
  const std::string expected = to_json(parse_spec(text));
  for (const Environment& environment : environments()) {
    const auto read = [&]() -> std::string {
      try {
        const Spec spec = parse_spec(text);
        RopeEncoder(std::get<Rope>(spec.encoding))
            .rotate(Tensor::zeros(Dtype::float32, {1, 1, 1, 8}), std::vector<std::int64_t>{1});
        return to_json(spec);
      } catch (const SpecError& error) {
        return error.what();
      }
    };
    EXPECT_EQ(in(environment, read), expected) << environment.name;
  }
}

// The pool's threads keep the environment in which they began: here one more than any test before.
TEST(StandardArithmetic, ReachesThreadsThatBeganInAnotherEnvironment) {
  const EveryEncoder every;
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const std::vector<std::byte> expected = every.run();
  std::fenv_t saved;
  std::fegetenv(&saved);
  flush_to_zero();
  std::fesetround(FE_UPWARD);
  omp_set_num_threads(5);
  double began = 0;
#pragma omp parallel reduction(+ : began)
  began += 1;
  std::fesetenv(&saved);
  EXPECT_TRUE(every.run() == expected);
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace sextant::environment_test
