#include "properties/mutants/plain_fourier.hpp"

#include <cmath>
#include <numbers>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "subjects/operations.hpp"

namespace sextant::mutants {
namespace {

double unit_of(const Fourier& encoding) {
  switch (encoding.angle_unit) {
    case AngleUnit::radian: return 1;
    case AngleUnit::half_turn: return std::numbers::pi;
    default: return 2 * std::numbers::pi;
  }
}

}  // namespace

PlainFourier::PlainFourier(const Fourier& claimed, Dtype of_values, Steps steps) : encoding(claimed), dtype(of_values) {
  if (steps == Steps::in_float64) {
    rounded = [](double value) { return value; };
  } else {
    rounded = in_float32;
  }
  claim(claimed);
  position = rounded;
  sine = [r = rounded](double a) { return r(std::sin(a)); };
  cosine = [r = rounded](double a) { return r(std::cos(a)); };
  matrix = [](const Tensor& weight) { return weight; };
  in_row = [](double c) { return c; };
  afterwards = [](Tensor&, const std::vector<std::int64_t>&) {};
}

void PlainFourier::claim(const Fourier& other) {
  unit = unit_of(other);
  coordinate = [e = other, r = rounded](std::int64_t axis, double p) {
    if (e.coordinates == FourierCoordinates::index || e.extents.empty()) return p;
    const auto extent = static_cast<double>(e.extents[static_cast<std::size_t>(axis)]);
    const bool middles = e.coordinates == FourierCoordinates::centres;
    const double quotient = r((middles ? r(p + 0.5) : p) / (middles ? extent : extent - 1));
    return r(2 * quotient - 1);
  };
  frequency = [e = other, r = rounded](std::int64_t band) {
    const double step = e.bands == 1 ? 0 : r((e.highest - e.lowest) / static_cast<double>(e.bands - 1));
    const double at = r(e.lowest + r(step * static_cast<double>(band)));
    return e.ladder == FrequencyLadder::linear ? at : r(std::exp2(at));
  };
  channels = [e = other](std::int64_t axis, std::int64_t band) { return channels_of(e, axis, band); };
  identity = [e = other](std::int64_t axis) { return identity_channel(e, axis); };
}

// Of a weight the sum over the axes.
double PlainFourier::angle(const std::vector<double>& c, std::int64_t axis, std::int64_t band,
                           const Tensor* weight) const {
  const auto times = [&](double coordinate_of_axis, double f) {
    return unit_first ? rounded(rounded(unit * coordinate_of_axis) * f) : rounded(coordinate_of_axis * f);
  };
  double product = 0;
  if (weight == nullptr) {
    product = times(c[static_cast<std::size_t>(axis)], frequency(band));
  } else {
    for (std::int64_t a = 0; a < encoding.axes; ++a)
      product = rounded(product + times(c[static_cast<std::size_t>(a)], weight->at(a * encoding.bands + band)));
  }
  return unit_first || unit == 1 ? product : rounded(rounded(unit) * product);
}

Tensor PlainFourier::encode(const std::vector<std::int64_t>& positions, const Tensor* given) const {
  const std::int64_t count = std::ssize(positions) / encoding.axes;
  const std::optional<Tensor> weight = given == nullptr ? std::nullopt : std::optional(matrix(*given));
  Tensor table = Tensor::zeros(dtype, {count, width(encoding)});
  const auto put = [&](std::int64_t row, std::int64_t channel, double value) {
    if (channel < width(encoding)) table.set(row * width(encoding) + channel, value);
  };
  for (std::int64_t row = 0; row < count; ++row) {
    std::vector<double> c;
    for (std::int64_t axis = 0; axis < encoding.axes; ++axis) {
      const std::int64_t step = positions[static_cast<std::size_t>(axis * count + row)];
      c.push_back(coordinate(axis, position(encoding.positions.at(step))));
      if (const auto channel = identity(axis)) put(row, *channel, in_row(c.back()));
    }
    for (std::int64_t axis = 0; axis < angle_lists(encoding); ++axis) {
      for (std::int64_t band = 0; band < encoding.bands; ++band) {
        const double a = angle(c, axis, band, weight ? &*weight : nullptr);
        const Channels at = channels(axis, band);
        put(row, at.first, sine(a));
        put(row, at.second, cosine(a));
      }
    }
  }
  afterwards(table, positions);
  return table;
}

FunctionSubject::Make fourier_subject(std::function<void(PlainFourier&)> change) {
  return of<Fourier>([change = std::move(change)](const Spec& spec, const Fourier& encoding) -> FunctionSubject::Call {
    const bool in_double = spec.dtype == Dtype::float64 || spec.accuracy == AccuracyClass::exact_angle;
    PlainFourier plain(encoding, spec.dtype, in_double ? Steps::in_float64 : Steps::in_float32);
    change(plain);
    return [plain](std::string_view operation, const Tensors& inputs) -> Tensors {
      if (operation != "encode") throw SubjectFailure(FailureKind::unsupported, "encode only");
      const auto weight = inputs.find("weight");
      return {{"encoding", plain.encode(counts_of(inputs.at("positions"), plain.encoding.positions),
                                        weight == inputs.end() ? nullptr : &weight->second)}};
    };
  });
}

}  // namespace sextant::mutants
