#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numbers>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/local_fault.hpp"

// Over 400 lines would be too many for a list; each entry is one way to go wrong, a few lines around one step of
// PlainSinusoidal.

namespace sextant::mutants::sinusoidal_mutants {
namespace {

using Change = SinusoidalChange;

constexpr const char* usual = R"({"encoding":"sinusoidal","dim":64})";

struct List : ChangedSinusoids {
  using ChangedSinusoids::defect;
  void defect(std::string name, std::string row, std::string mechanism, const Change& change) {
    defect(std::move(name), std::move(row), std::move(mechanism), usual, change);
  }
};

// What comes out of `step` rounded to a dtype.
template <class... Arguments>
std::function<double(Arguments...)> rounded(Dtype dtype, std::function<double(Arguments...)> step) {
  return [dtype, step](Arguments... arguments) { return round_to(dtype, step(arguments...)); };
}

void both_frequencies(PlainSinusoidal& plain, const std::function<void(std::size_t i, double& w)>& change) {
  plain.frequencies = [list = plain.frequencies, change] {
    std::vector<double> result = list();
    for (std::size_t i = 0; i < result.size(); ++i) change(i, result[i]);
    return result;
  };
  plain.cosine_frequencies = plain.frequencies;
}

void shift_positions(PlainSinusoidal& plain, const std::function<std::int64_t(std::int64_t p)>& change) {
  plain.position = [own = plain.position, change](const Row& row) {
    return own({change(row.position), row.index, row.count});
  };
}

void precision_mutants(List& list) {
  list.defect("sinusoidal-bfloat16-positions", "A1,A4", "positions are rounded to bfloat16 before the angle is formed",
              [](PlainSinusoidal& plain) { plain.position = rounded(Dtype::bfloat16, plain.position); });
  list.defect("sinusoidal-float16-positions", "A1,A15", "positions are rounded to float16: infinite from 65520 on",
              [](PlainSinusoidal& plain) { plain.position = rounded(Dtype::float16, plain.position); });
  list.defect("sinusoidal-bfloat16-frequencies", "A5,A12", "frequencies are rounded to bfloat16, the rest is float32",
              [](PlainSinusoidal& plain) {
                both_frequencies(plain, [](std::size_t, double& w) { w = round_to(Dtype::bfloat16, w); });
              });
  list.defect("sinusoidal-bfloat16-angle", "A3", "a float32 product is rounded to bfloat16 before sin and cos",
              [](PlainSinusoidal& plain) { plain.angle = rounded(Dtype::bfloat16, plain.angle); });
  list.defect("sinusoidal-float16-angle", "A2,A10", "position, frequency and their product are float16",
              [](PlainSinusoidal& plain) {
                plain.angle = [](double p, double w) {
                  return round_to(Dtype::float16, round_to(Dtype::float16, p) * round_to(Dtype::float16, w));
                };
              });
  list.defect("sinusoidal-float16-wavelengths", "A11", "the wavelength instead of the frequency is kept, in float16",
              [](PlainSinusoidal& plain) {
                both_frequencies(plain, [](std::size_t, double& w) {
                  const double turn = 2 * std::numbers::pi;
                  w = turn / round_to(Dtype::float16, turn / w);
                });
              });
  list.defect("sinusoidal-summed-positions", "A13", "positions of a call are a running sum in bfloat16",
              [](PlainSinusoidal& plain) {
                plain.position = [own = plain.position](const Row& row) {
                  double sum = own({row.position - row.index, 0, row.count});
                  for (std::int64_t i = 0; i < row.index; ++i) sum = round_to(Dtype::bfloat16, sum + 1);
                  return sum;
                };
              });
  list.defect("sinusoidal-poor-reduction", "B1", "the angle is reduced by a float32 2 pi, as fast intrinsics do",
              [](PlainSinusoidal& plain) {
                plain.angle = [own = plain.angle](double p, double w) {
                  const auto a = static_cast<float>(own(p, w));
                  const auto turn = static_cast<float>(2 * std::numbers::pi);
                  return static_cast<double>(a - turn * std::floor(a / turn));
                };
              });
  list.defect("sinusoidal-lost-quotient", "B3,B4",
              "beyond 2^16 the reduction fails and a polynomial for small angles is used", [](PlainSinusoidal& plain) {
                plain.sine = [own = plain.sine](double a) {
                  return std::fabs(a) > 65536 ? in_float32(a - a * a * a / 6) : own(a);
                };
              });
  list.defect("sinusoidal-running-product", "B7", "frequencies come from a product that runs over the pairs in float32",
              R"({"encoding":"sinusoidal","dim":512})", [](PlainSinusoidal& plain) {
                plain.frequencies = [e = plain.encoding] {
                  const double ratio = in_float32(std::pow(e.base, -2.0 / static_cast<double>(e.dim)));
                  std::vector<double> result(static_cast<std::size_t>(pairs(e)), 1);
                  for (std::size_t i = 1; i < result.size(); ++i) result[i] = in_float32(result[i - 1] * ratio);
                  return result;
                };
                plain.cosine_frequencies = plain.frequencies;
              });
  list.defect("sinusoidal-table-of-1024-sines", "B", "sin and cos are read from a table of 1024 values a turn",
              [](PlainSinusoidal& plain) {
                const double step = 2 * std::numbers::pi / 1024;
                plain.sine = [step](double a) { return in_float32(std::sin(step * std::round(a / step))); };
                plain.cosine = [step](double a) { return in_float32(std::cos(step * std::round(a / step))); };
              });
  list.defect("sinusoidal-cosine-from-sine", "B",
              "cos is sqrt(1 - sin^2) with the right sign: inaccurate near its zeros", [](PlainSinusoidal& plain) {
                plain.cosine = [sine = plain.sine](double a) {
                  const double s = sine(a);
                  return std::copysign(in_float32(std::sqrt(in_float32(1 - in_float32(s * s)))), std::cos(a));
                };
              });
  list.defect("sinusoidal-above-one", "B4", "the greatest value is a last place above 1", [](PlainSinusoidal& plain) {
    plain.finish = [](double value) { return value == 1 ? 1 + 0x1p-23 : value; };
  });
  list.defect("sinusoidal-float32-positions", "A",
              "positions beyond 2^24 are rounded to float32, though exact angles are claimed",
              R"({"encoding":"sinusoidal","dim":8,"accuracy":"exact-angle","max_position":1099511627776})",
              [](PlainSinusoidal& plain) {
                plain.angle = [](double p, double w) {
                  return std::remainder(in_float32(p) * w, 2 * std::numbers::pi);
                };
              });
  list.defect("sinusoidal-promoted-dtype", "A14", "float16 was asked for, float32 comes back",
              R"({"encoding":"sinusoidal","dim":64,"dtype":"float16"})", [](PlainSinusoidal& plain) {
                plain.afterwards = [](Tensor& table, std::span<const std::int64_t>) {
                  Tensor wide = Tensor::zeros(Dtype::float32, table.shape);
                  for (std::int64_t i = 0; i < table.elements(); ++i) wide.set(i, table.at(i));
                  table = wide;
                };
              });
}

void formula_mutants(List& list) {
  list.defect("sinusoidal-base-ignored", "D1,D2", "the base is 10000 whatever the spec says",
              R"({"encoding":"sinusoidal","dim":64,"base":500})", [](PlainSinusoidal& plain) {
                plain.encoding.base = 10000;
                both_frequencies(plain,
                                 [](std::size_t i, double& w) { w = std::pow(10000.0, -static_cast<double>(i) / 32); });
              });
  list.defect("sinusoidal-doubled-exponent", "K7", "the exponent has 2i where i already counts channels",
              [](PlainSinusoidal& plain) { both_frequencies(plain, [](std::size_t, double& w) { w *= w; }); });
  list.defect("sinusoidal-floored-exponent", "K5",
              "the exponent's coefficient is floored by operator precedence: frequencies are exp(-i)",
              [](PlainSinusoidal& plain) {
                both_frequencies(plain, [](std::size_t i, double& w) { w = std::exp(-static_cast<double>(i)); });
              });
  list.defect("sinusoidal-two-frequencies-a-pair", "K6",
              "the cosine of a pair has the frequency of the channel after the sine's", [](PlainSinusoidal& plain) {
                plain.cosine_frequencies = [e = plain.encoding] {
                  std::vector<double> result;
                  for (std::int64_t i = 0; i < pairs(e); ++i)
                    result.push_back(std::pow(e.base, -static_cast<double>(2 * i + 1) / static_cast<double>(e.dim)));
                  return result;
                };
              });
  list.defect("sinusoidal-denominator-ignored", "K7", "d/2 - 1 was asked for, d/2 is used",
              R"({"encoding":"sinusoidal","dim":64,"denominator":"half_minus_one"})", [](PlainSinusoidal& plain) {
                both_frequencies(plain,
                                 [](std::size_t i, double& w) { w = std::pow(10000.0, -static_cast<double>(i) / 32); });
              });
  list.defect("sinusoidal-one-frequency-wrong", "D9", "one pair of 32 has its neighbour's frequency",
              [](PlainSinusoidal& plain) {
                both_frequencies(plain, [](std::size_t i, double& w) {
                  if (i == 17) w = std::pow(10000.0, -0.5);
                });
              });
  list.defect("sinusoidal-degrees", "B", "the angle is taken for degrees", [](PlainSinusoidal& plain) {
    plain.angle = [own = plain.angle](double p, double w) { return in_float32(own(p, w) * (std::numbers::pi / 180)); };
  });
  list.defect("sinusoidal-scale-ignored", "N7", "the scale is left out",
              R"({"encoding":"sinusoidal","dim":64,"scale":0.5})",
              [](PlainSinusoidal& plain) { plain.finish = [](double value) { return value; }; });
  list.defect("sinusoidal-scale-twice", "F9", "the scale is applied to the positions too",
              R"({"encoding":"sinusoidal","dim":64,"scale":0.5})", [](PlainSinusoidal& plain) {
                plain.position = [own = plain.position](const Row& row) { return own(row) * 0.5; };
              });
}

void layout_mutants(List& list) {
  const std::string concatenated = R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated"})";
  list.defect("sinusoidal-layout-ignored", "C2", "interleaved whatever the spec says", concatenated,
              [](PlainSinusoidal& plain) {
                plain.channels = [](std::int64_t pair) { return Channels{2 * pair, 2 * pair + 1}; };
              });
  list.defect("sinusoidal-first-ignored", "C2", "sines first whatever the spec says",
              R"({"encoding":"sinusoidal","dim":64,"first":"cos"})", [](PlainSinusoidal& plain) {
                plain.channels = [](std::int64_t pair) { return Channels{2 * pair, 2 * pair + 1}; };
              });
  list.defect("sinusoidal-sign", "C13", "the sine has the other sign",
              [](PlainSinusoidal& plain) { plain.sine = [own = plain.sine](double a) { return -own(a); }; });
  list.defect("sinusoidal-cosine-of-sine", "K3", "a cosine reads what the sines have overwritten", concatenated,
              [](PlainSinusoidal& plain) {
                plain.afterwards = [e = plain.encoding](Tensor& table, std::span<const std::int64_t>) {
                  // The angles stood in the first half, two channels of a pair side by side; half of them are sines by
                  // the time they are read.
                  for (std::int64_t row = 0; row < table.shape[0]; ++row) {
                    for (std::int64_t i = 0; i < e.dim / 4; ++i) {
                      table.set(row * e.dim + e.dim / 2 + i,
                                static_cast<double>(std::cos(static_cast<float>(table.at(row * e.dim + 2 * i + 1)))));
                    }
                  }
                };
              });
  list.defect("sinusoidal-one-row-for-all", "K10", "every position gets the call's last row",
              [](PlainSinusoidal& plain) {
                plain.position = [own = plain.position](const Row& row) {
                  return own({row.position + row.count - 1 - row.index, row.index, row.count});
                };
              });
  list.defect("sinusoidal-constant", "D11", "the same code for every position",
              [](PlainSinusoidal& plain) { shift_positions(plain, [](std::int64_t) { return 1; }); });
  list.defect("sinusoidal-last-pair-missing", "K1,K2", "the last pair is left zero", [](PlainSinusoidal& plain) {
    plain.afterwards = [e = plain.encoding](Tensor& table, std::span<const std::int64_t>) {
      for (std::int64_t row = 0; row < table.shape[0]; ++row) table.set((row + 1) * e.dim - 1, 0);
    };
  });
}

void position_mutants(List& list) {
  list.defect("sinusoidal-offset-two", "K11", "positions start at padding_idx + 1 = 2",
              [](PlainSinusoidal& plain) { shift_positions(plain, [](std::int64_t p) { return p + 2; }); });
  list.defect("sinusoidal-offset-ignored", "K11", "position_offset is left out",
              R"({"encoding":"sinusoidal","dim":64,"position_offset":2})", [](PlainSinusoidal& plain) {
                plain.position = [](const Row& row) { return static_cast<double>(row.position); };
              });
  list.defect("sinusoidal-clamped", "K15,F8", "positions beyond 4095 get the last row of a table",
              [](PlainSinusoidal& plain) {
                shift_positions(plain, [](std::int64_t p) { return std::min<std::int64_t>(p, 4095); });
              });
  list.defect("sinusoidal-wrapped", "K15", "positions wrap at 16 bits", [](PlainSinusoidal& plain) {
    shift_positions(plain, [](std::int64_t p) { return static_cast<std::int64_t>(static_cast<std::uint16_t>(p)); });
  });
  list.defect("sinusoidal-int32", "I10", "positions are 32-bit integers",
              R"({"encoding":"sinusoidal","dim":64,"accuracy":"exact-angle","max_position":1099511627776})",
              [](PlainSinusoidal& plain) {
                plain.angle = [](double p, double w) {
                  return std::remainder(
                      static_cast<double>(static_cast<std::int32_t>(static_cast<std::int64_t>(p))) * w,
                      2 * std::numbers::pi);
                };
              });
  list.defect("sinusoidal-absolute-positions", "H5", "a negative position is taken for its absolute value",
              R"({"encoding":"sinusoidal","dim":64,"min_position":-1024,"max_position":1024})",
              [](PlainSinusoidal& plain) { shift_positions(plain, [](std::int64_t p) { return std::abs(p); }); });
  list.defect(
      "sinusoidal-off-by-one-from-4096", "H4", "from a chunk's border on positions are one too far",
      [](PlainSinusoidal& plain) { shift_positions(plain, [](std::int64_t p) { return p < 4096 ? p : p + 1; }); });
  list.defect(
      "sinusoidal-off-by-one-at-8191", "H4", "one single position has its neighbour's code",
      [](PlainSinusoidal& plain) { shift_positions(plain, [](std::int64_t p) { return p == 8191 ? 8190 : p; }); });
}

void call_mutants(List& list) {
  list.defect("sinusoidal-local-index", "H1,H2,H7", "a row's place in the call is taken for its position",
              [](PlainSinusoidal& plain) {
                plain.position = [own = plain.position](const Row& row) {
                  return own({row.index, row.index, row.count});
                };
              });
  list.defect("sinusoidal-single-row-from-zero", "H2", "a call of one row starts at 0", [](PlainSinusoidal& plain) {
    plain.position = [own = plain.position](const Row& row) {
      return own({row.count == 1 ? row.index : row.position, row.index, row.count});
    };
  });
  list.defect("sinusoidal-consecutive-positions", "H9", "positions are taken to be consecutive from the first",
              [](PlainSinusoidal& plain) {
                plain.afterwards = [inner = plain](Tensor& table, std::span<const std::int64_t> positions) {
                  std::vector<std::int64_t> consecutive(positions.begin(), positions.end());
                  for (std::size_t i = 1; i < consecutive.size(); ++i)
                    consecutive[i] = consecutive[0] + static_cast<std::int64_t>(i);
                  table = inner.encode(consecutive);
                };
              });
  list.defect("sinusoidal-capacity-scaled", "E3", "positions are interpolated once a call is longer than 16 rows",
              [](PlainSinusoidal& plain) {
                plain.position = [own = plain.position](const Row& row) {
                  return row.count <= 16 ? own(row) : own(row) * 16 / static_cast<double>(row.count);
                };
              });
  list.defect("sinusoidal-tail-unwritten", "H5,I11",
              "the last rows of a call whose length is no multiple of 4 are never written", [](PlainSinusoidal& plain) {
                plain.afterwards = [e = plain.encoding](Tensor& table, std::span<const std::int64_t>) {
                  for (std::int64_t row = table.shape[0] / 4 * 4; row < table.shape[0]; ++row) {
                    for (std::int64_t i = 0; i < e.dim; ++i) table.set(row * e.dim + i, 0);
                  }
                };
              });
  list.defect("sinusoidal-stale-rows", "P4", "a table kept from the first call answers later ones by index",
              [](PlainSinusoidal& plain) {
                plain.afterwards = [kept = std::make_shared<Tensor>()](Tensor& table, std::span<const std::int64_t>) {
                  if (kept->data.empty()) {
                    *kept = table;
                  } else {
                    std::copy_n(kept->data.begin(), std::min(kept->data.size(), table.data.size()), table.data.begin());
                  }
                };
              });
  list.defect("sinusoidal-longest-seen", "E2", "once a far position was asked for, positions stay interpolated",
              [](PlainSinusoidal& plain) {
                plain.position = [own = plain.position, seen = std::make_shared<bool>(false)](const Row& row) {
                  if (row.position >= 65536) *seen = true;
                  return *seen && row.position < 65536 ? own(row) * 0.999 : own(row);
                };
              });
  list.defect("sinusoidal-uninitialised", "P1,H5", "an element is what memory held: another value in each call",
              [](PlainSinusoidal& plain) {
                plain.finish = [own = plain.finish, calls = std::make_shared<std::uint64_t>(0)](double value) {
                  *calls = *calls * 6364136223846793005U + 1442695040888963407U;
                  return (*calls >> 56) == 0 ? in_float32(own(value) * (1 + 0x1p-23)) : own(value);
                };
              });
  list.defect("sinusoidal-empty-refused", "I18", "a call without positions is an error", [](PlainSinusoidal& plain) {
    plain.afterwards = [](Tensor&, std::span<const std::int64_t> positions) {
      if (positions.empty()) throw SubjectFailure(FailureKind::error, "reduction of an empty array");
    };
  });
}

void controls(List& list) {
  list.control("sinusoidal-plain", "float32 throughout", usual);
  list.control("sinusoidal-plain-512", "the paper's table, float32 throughout",
               R"({"encoding":"sinusoidal","dim":512})");
  list.control("sinusoidal-concatenated", "sines, then cosines",
               R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated"})");
  list.control("sinusoidal-cosine-first", "cos before sin",
               R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated","first":"cos"})");
  list.control("sinusoidal-half-minus-one", "tensor2tensor's denominator",
               R"({"encoding":"sinusoidal","dim":64,"layout":"concatenated","denominator":"half_minus_one"})");
  list.control("sinusoidal-declared-offset", "fairseq's offset, declared",
               R"({"encoding":"sinusoidal","dim":64,"position_offset":2})");
  list.control("sinusoidal-small", "four frequencies, base 100", R"({"encoding":"sinusoidal","dim":8,"base":100})");
  list.control("sinusoidal-negative-positions", "positions on both sides of 0",
               R"({"encoding":"sinusoidal","dim":64,"min_position":-70000,"max_position":70000})");
  list.control("sinusoidal-bfloat16-values", "float32 to the value, then cast",
               R"({"encoding":"sinusoidal","dim":64,"dtype":"bfloat16"})");
  list.control("sinusoidal-float16-values", "float32 to the value, then cast",
               R"({"encoding":"sinusoidal","dim":64,"dtype":"float16"})");
  list.control("sinusoidal-float64-angle", "angles in float64, exact-angle claimed",
               R"({"encoding":"sinusoidal","dim":64,"accuracy":"exact-angle"})", [](PlainSinusoidal& plain) {
                 plain.angle = [scale = plain.encoding.angle_scale](double p, double w) { return scale * (p * w); };
                 plain.sine = [](double a) { return std::sin(a); };
                 plain.cosine = [](double a) { return std::cos(a); };
               });
  list.control("sinusoidal-wide-range", "angles in float64 up to 2^31, exact-angle claimed",
               R"({"encoding":"sinusoidal","dim":64,"accuracy":"exact-angle","max_position":2147483648})",
               [](PlainSinusoidal& plain) {
                 plain.angle = [scale = plain.encoding.angle_scale](double p, double w) { return scale * (p * w); };
                 plain.sine = [](double a) { return std::sin(a); };
                 plain.cosine = [](double a) { return std::cos(a); };
               });
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  precision_mutants(list);
  formula_mutants(list);
  layout_mutants(list);
  position_mutants(list);
  call_mutants(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::sinusoidal_mutants
