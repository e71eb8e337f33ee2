#include <sextant/gtest.h>
#include <cmath>

using namespace sextant_worker;

// The function under test, in half pairing.
void rotate_half(const float* x, float* y, int head_dim, double position, double theta) {
  const int half = head_dim / 2;
  for (int i = 0; i < half; ++i) {
    const double angle = position * std::pow(theta, -2.0 * i / head_dim);
    const double c = std::cos(angle), s = std::sin(angle);
    y[i] = static_cast<float>(x[i] * c - x[i + half] * s);
    y[i + half] = static_cast<float>(x[i] * s + x[i + half] * c);
  }
}

Array rotate(const Call& call) {
  if (call.spec.at("encoding").text() != "rope" || !call.spec.at("rope_scaling").is_null()) throw Unsupported();
  const Array& x = call["x"];  // [batch, n, heads, head_dim]
  Array y = Array::like(x);
  const auto heads = x.shape[2], d = x.shape[3];
  for (std::int64_t i = 0; i < x.size() / d; ++i)
    rotate_half(x.data<float>() + i * d, y.data<float>() + i * d, static_cast<int>(d),
                static_cast<double>(call["positions"].data<std::int64_t>()[i / heads]),
                call.spec.at("rope_theta").number());
  return y;
}

SEXTANT_AUDIT(MyRotary, R"({"encoding": "rope", "head_dim": 64})", {.rotate = rotate});
