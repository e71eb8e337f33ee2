#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lib/encoders/encoders.hpp"
#include "lib/fourier/specs_test.hpp"
#include "lib/kernels/guard_page_test.hpp"
#include "lib/kernels/strided_heads_test.hpp"
#include "lib/kernels/target_test.hpp"
#include "lib/kernels/truth_test.hpp"
#include "lib/qk_norm_rope/qk_norm_rope.hpp"

// Every encoder reads the positions that it is given and none beside them: of every number up to some vectors of them,
// at either end of what may be touched.

namespace sextant::encoders_guarded_positions_test {
namespace {

class GuardedPositionsOn : public OnEveryTarget {};
SEXTANT_ON_EVERY_TARGET(GuardedPositionsOn);

using Positions = std::span<const std::int64_t>;

constexpr std::int64_t most = 35;

// What made(positions) is, of `axes` times 1 to `most` positions: ascending ones, and others.
void expect_positions_alone(const std::string& name, std::int64_t axes, const std::function<Tensor(Positions)>& made) {
  for (std::int64_t count = 1; count <= most; ++count) {
    for (const std::int64_t step : {1, 11}) {
      std::vector<std::int64_t> positions;
      for (std::int64_t i = 0; i < axes * count; ++i) positions.push_back(i % count * step % most);
      const Tensor wanted = made(positions);
      for (const GuardedBytes::Against against : {GuardedBytes::Against::start, GuardedBytes::Against::end}) {
        GuardedBytes memory(positions.size() * sizeof(std::int64_t), against);
        std::memcpy(memory.data(), positions.data(), memory.size());
        const Tensor got = made({reinterpret_cast<const std::int64_t*>(memory.data()), positions.size()});
        ASSERT_EQ(got.data, wanted.data) << name << ", " << count << " positions";
      }
    }
  }
}

template <class Encoding>
Encoding of(const char* json) {
  return std::get<Encoding>(parse_spec(json).encoding);
}

TEST_P(GuardedPositionsOn, OfTables) {
  target_in_use();
  const SinusoidalEncoder sinusoidal(of<Sinusoidal>(R"({"encoding":"sinusoidal","dim":10})"));
  const Sinusoidal2dEncoder sinusoidal_2d(
      of<Sinusoidal2d>(R"({"encoding":"sinusoidal_2d","dim":8,"height":35,"width":35})"));
  SinusoidalNd of_axes;
  of_axes.dim = 13;
  of_axes.extents = {35, 35, 35};
  of_axes.channels = {4, 4, 4};
  const SinusoidalNdEncoder sinusoidal_nd(of_axes);
  const LogCoordinatesEncoder log_coordinates({{35, 40}, {}});
  const IntegerEncoder integer({3, true}, most);
  const BinaryEncoder binary({6, true});
  const LearnedEncoder learned({5, most});
  for (const Dtype dtype : floating_dtypes) {
    const Tensor weight = random_tensor(dtype, {most, 5}, 1);
    for (const Rounding rounding : {Rounding::certified, Rounding::fast}) {
      expect_positions_alone("sinusoidal", 1,
                             [&](Positions positions) { return sinusoidal.encode(positions, dtype, rounding); });
    }
    expect_positions_alone("sinusoidal_2d", 2,
                           [&](Positions positions) { return sinusoidal_2d.encode(positions, dtype); });
    expect_positions_alone("sinusoidal_nd", 3,
                           [&](Positions positions) { return sinusoidal_nd.encode(positions, dtype); });
    expect_positions_alone("log_coordinates", 2,
                           [&](Positions positions) { return log_coordinates.encode(positions, dtype); });
    expect_positions_alone("integer", 1, [&](Positions positions) { return integer.encode(positions, dtype); });
    expect_positions_alone("binary", 1, [&](Positions positions) { return binary.encode(positions, dtype); });
    expect_positions_alone("learned", 1, [&](Positions positions) { return learned.encode(positions, weight); });
    expect_positions_alone("learned, backward", 1, [&](Positions positions) {
      return learned.grad_weight(positions, random_tensor(dtype, {std::ssize(positions), 5}, 2));
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(GuardedPositionsOn, OfFourierFeatures) {
  target_in_use();
  for (const NamedFeatures& named : every_kind_of_features()) {
    Fourier encoding = named.encoding();
    if (!encoding.extents.empty()) encoding.extents.assign(encoding.extents.size(), most);
    const FourierEncoder encoder(encoding);
    for (const Dtype dtype : floating_dtypes) {
      const Tensor weight = some_matrix(encoding, dtype);
      expect_positions_alone(named.name, encoding.axes, [&](Positions positions) {
        return is_given(encoding) ? encoder.encode(positions, weight) : encoder.encode(positions, dtype);
      });
      if (HasFatalFailure()) return;
    }
  }
}

// As the positions of one sequence and as those of several; `axes` of them.
void expect_turned(const std::string& name, Dtype dtype, std::int64_t axes,
                   const std::function<Tensor(const Tensor& x, Positions positions)>& turned) {
  expect_positions_alone(name, axes, [&](Positions positions) {
    const std::int64_t count = std::ssize(positions) / axes;
    const std::int64_t batch = count % 2 == 0 ? 2 : 1;
    return turned(tensor_of_bits(dtype, {batch, count / batch, 2, 12}, 1), positions);
  });
}

TEST_P(GuardedPositionsOn, OfTurnedVectors) {
  const RopeEncoder rope(of<Rope>(R"({"encoding":"rope","head_dim":12})"));
  const RopeEncoder by_row(
      of<Rope>(R"({"encoding":"rope","head_dim":12,"rope_scaling":{"rope_type":"dynamic","factor":2,)"
               R"("original_max_position_embeddings":8}})"));
  const XposEncoder xpos(of<Xpos>(R"({"encoding":"xpos","head_dim":12})"));
  const RopeNdEncoder rope_nd(of<RopeNd>(R"({"encoding":"rope_nd","head_dim":12,"sections":[2,2,2]})"));
  const QkNormRopeEncoder qk_norm_rope(of<QkNormRope>(R"({"encoding":"qk_norm_rope","head_dim":12})"));
  for (const Dtype dtype : floating_dtypes) {
    for (const Rounding rounding : {Rounding::certified, Rounding::fast}) {
      expect_turned("rope", dtype, 1,
                    [&](const Tensor& x, Positions positions) { return rope.rotate(x, positions, rounding); });
      expect_turned("rope, backward", dtype, 1,
                    [&](const Tensor& x, Positions positions) { return rope.backward(x, positions, rounding); });
    }
    expect_turned("rope, dynamic", dtype, 1,
                  [&](const Tensor& x, Positions positions) { return by_row.rotate(x, positions); });
    expect_turned("rope, another dtype", dtype, 1, [&](const Tensor& x, Positions positions) {
      Tensor y = Tensor::zeros(dtype == Dtype::bfloat16 ? Dtype::float16 : Dtype::bfloat16, x.shape);
      rope.apply(heads_of(x), positions, heads_of(y));
      return y;
    });
    expect_turned("xpos", dtype, 1, [&](const Tensor& x, Positions positions) { return xpos.rotate(x, positions); });
    expect_turned("rope_nd", dtype, 3,
                  [&](const Tensor& x, Positions positions) { return rope_nd.rotate(x, positions); });
    const Tensor gains = random_tensor(dtype, {12}, 2);
    expect_turned("qk_norm_rope", dtype, 1, [&](const Tensor& x, Positions positions) {
      Tensor y = x;
      qk_norm_rope.apply(heads_of(y), gains, positions);
      return y;
    });
    if (HasFatalFailure()) return;
  }
  expect_positions_alone("rope's tables", 1, [&](Positions positions) {
    const auto count = std::ssize(positions);
    Tensor both = Tensor::zeros(Dtype::float32, {2, count, 6});
    std::byte* const sin = both.data.data() + both.data.size() / 2;
    rope.tables(positions, {Dtype::float32, both.data.data(), count, 6, 6}, {Dtype::float32, sin, count, 6, 6});
    return both;
  });
}

// The positions of queries and keys are the same.
TEST_P(GuardedPositionsOn, OfBiases) {
  target_in_use();
  const AlibiEncoder alibi(of<Alibi>(R"({"encoding":"alibi","num_heads":3,"mask":"symmetric"})"));
  const RelativeBiasEncoder relative(RelativeBias{8, 20, true});
  const WindowBiasEncoder window({{5, 7}, ClassToken::none});
  for (const Dtype dtype : floating_dtypes) {
    expect_positions_alone("alibi", 1, [&](Positions positions) { return alibi.bias(positions, positions, dtype); });
    const Tensor of_buckets = random_tensor(dtype, {8, 3}, 1);
    expect_positions_alone("relative_bias", 1,
                           [&](Positions positions) { return relative.bias(positions, positions, of_buckets); });
    const Tensor of_offsets = random_tensor(dtype, {9 * 13, 3}, 1);
    expect_positions_alone("window_bias", 1,
                           [&](Positions positions) { return window.bias(positions, positions, of_offsets); });
    const auto grad = [&](Positions positions) {
      return random_tensor(dtype, {2, std::ssize(positions), std::ssize(positions)}, 2);
    };
    expect_positions_alone("relative_bias, backward", 1, [&](Positions positions) {
      return relative.grad_weight(positions, positions, grad(positions));
    });
    expect_positions_alone("window_bias, backward", 1, [&](Positions positions) {
      return window.grad_weight(positions, positions, grad(positions));
    });
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace sextant::encoders_guarded_positions_test
