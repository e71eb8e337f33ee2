#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "lib/spec/of.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "subjects/operations.hpp"

// Rotations of NaN, infinities and zeros with a sign: lost on the way, or answered as honest arithmetic does.

namespace sextant::mutants::special_mutants {
namespace {

using Change = std::function<void(PlainRope&)>;

constexpr const char* usual = R"({"encoding":"rope","head_dim":64})";
constexpr const char* partial = R"({"encoding":"rope","head_dim":64,"rotary_dim":24})";
constexpr const char* spread = R"({"encoding":"rope","head_dim":64,"rotary_dim":24,"rotary_layout":"spread"})";
constexpr const char* suffix = R"({"encoding":"rope","head_dim":64,"rotary_dim":24,"rotary_layout":"suffix"})";

FunctionSubject::Make variant(const Change& change) {
  return of<Rope>([change](const Spec& spec, const Rope& claimed) -> FunctionSubject::Call {
    PlainRope plain(claimed, spec.dtype);
    change(plain);
    return [plain](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (operation != "rotate") throw SubjectFailure(FailureKind::unsupported, "rotate only");
      return {{"y", plain.rotate(inputs.at("x"), counts_of(inputs.at("positions"), plain.encoding.positions))}};
    };
  });
}

// Channels that are not rotated, each made of x's by `made(x, start of the vector, channel)`.
Change others_made(const std::function<double(const Tensor& x, std::int64_t start, std::int64_t channel)>& made) {
  return [made](PlainRope& plain) {
    plain.afterwards = [made, untouched = passthrough_channels(plain.encoding)](Tensor& y, const Tensor& x,
                                                                                const RotateCall&) {
      for (std::int64_t start = 0; start < y.elements(); start += x.shape[3]) {
        for (const Passthrough& channel : untouched) y.set(start + channel.output, made(x, start, channel.input));
      }
    };
  };
}
Change others_cleaned(double (*clean)(double)) {
  return others_made(
      [clean](const Tensor& x, std::int64_t start, std::int64_t channel) { return clean(x.at(start + channel)); });
}

double without_nan(double value) { return std::isnan(value) ? 0 : value; }
double clipped(double value) {
  const double most = largest_finite(Dtype::float32);
  return std::isnan(value) ? value : std::clamp(value, -most, most);
}

// a b = first + second, exactly while nothing overflows or underflows: of an infinity the second is NaN.
struct Product {
  double first;
  double second;
};
Product exact_product(double a, double b) { return {a * b, std::fma(a, b, -(a * b))}; }

// C 2018, annex G.5.1: a product of complex numbers that is NaN in both parts though a factor is infinite is infinite.
// The second factor is finite.
void multiply_complex(double& a, double& b, const Turn& by) {
  double real = in_float32(in_float32(a * by.cos) - in_float32(b * by.sin));
  double imaginary = in_float32(in_float32(a * by.sin) + in_float32(b * by.cos));
  if (std::isnan(real) && std::isnan(imaginary) && (std::isinf(a) || std::isinf(b))) {
    const double c = std::copysign(std::isinf(a) ? 1.0 : 0.0, a);
    const double d = std::copysign(std::isinf(b) ? 1.0 : 0.0, b);
    real = HUGE_VAL * (c * by.cos - d * by.sin);
    imaginary = HUGE_VAL * (c * by.sin + d * by.cos);
  }
  a = real;
  b = imaginary;
}

}  // namespace

std::vector<Mutant> all() {
  std::vector<Mutant> list;
  const auto defect = [&](const char* name, const char* mechanism, const char* spec, const Change& change) {
    list.push_back({name, Kind::defect, "", mechanism, spec, variant(change)});
  };
  const auto control = [&](const char* name, const char* mechanism, const char* spec, const Change& change) {
    list.push_back({name, Kind::control, "", mechanism, spec, variant(change)});
  };
  defect("rope-nan-cleaned", "NaN is taken for 0 before the rotation", usual,
         [](PlainRope& plain) { plain.receive = without_nan; });
  defect("rope-nan-of-first-cleaned", "NaN in the first value of a pair is taken for 0", usual, [](PlainRope& plain) {
    plain.apply = [own = plain.apply](double& a, double& b, const Turn& by) {
      a = without_nan(a);
      own(a, b, by);
    };
  });
  defect("rope-infinity-clipped", "an infinity is taken for the largest finite value", usual,
         [](PlainRope& plain) { plain.receive = clipped; });
  defect("rope-infinity-unsigned", "every infinity is a positive one", usual, [](PlainRope& plain) {
    plain.receive = [](double value) { return std::isinf(value) ? std::fabs(value) : value; };
  });
  defect("rope-tail-nan-cleaned", "NaN is replaced by 0 in channels that are not rotated", partial,
         others_cleaned(without_nan));
  defect("rope-tail-infinity-clipped", "infinities are clipped in channels that are not rotated", spread,
         others_cleaned(clipped));
  defect("rope-suffix-zeros-cleaned", "-0 becomes 0 in channels before those that are rotated", suffix,
         others_cleaned([](double value) { return value + 0.0; }));

  control("rope-tail-by-one-and-zero", "the tail is multiplied by a cosine of 1, its neighbours by a sine of 0",
          partial, others_made([](const Tensor& x, std::int64_t start, std::int64_t channel) {
            const double neighbour = x.at(start + (channel ^ 1)) * 0;
            return channel % 2 == 0 ? x.at(start + channel) - neighbour : x.at(start + channel) + neighbour;
          }));
  control("rope-spread-by-one-and-zero", "pairs that stand still are turned by a frequency of 0", spread,
          others_made([](const Tensor& x, std::int64_t start, std::int64_t channel) {
            const double partner = x.at(start + (channel + 32) % 64) * 0;
            return channel < 32 ? x.at(start + channel) - partner : x.at(start + channel) + partner;
          }));
  control("rope-zero-copied", "pairs at position 0 are copied", usual, [](PlainRope& plain) {
    plain.apply = [own = plain.apply](double& a, double& b, const Turn& by) {
      if (by.sin != 0 || by.cos != 1) own(a, b, by);
    };
  });
  control("rope-products-in-two", "products in two numbers, so that infinities are NaN", usual, [](PlainRope& plain) {
    plain.apply = [](double& a, double& b, const Turn& by) {
      const Product p = exact_product(a, by.cos);
      const Product q = exact_product(b, by.sin);
      const Product r = exact_product(a, by.sin);
      const Product s = exact_product(b, by.cos);
      a = in_float32((p.first - q.first) + (p.second - q.second));
      b = in_float32((r.first + s.first) + (r.second + s.second));
    };
  });
  control("rope-complex-infinities", "complex products as C has them, which recover infinities", usual,
          [](PlainRope& plain) { plain.apply = multiply_complex; });
  return list;
}

}  // namespace sextant::mutants::special_mutants
