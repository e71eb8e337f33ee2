#include "reference/table_comparison.hpp"

#include <cstddef>
#include <vector>

// Target-independent, so declared before the file is taken once per target.
#ifndef SEXTANT_REFERENCE_TABLE_COMPARISON_TYPES
#define SEXTANT_REFERENCE_TABLE_COMPARISON_TYPES
namespace sextant::reference {

// What a format makes of ULPs: 2^least_exponent and 2^(1 - precision), as doubles.
struct UlpScale {
  double least_binade;
  double step;
};

// One component of a row of pairs: the values, and the errors that `Measure` fills in.
struct ComponentRow {
  std::vector<double> value;
  std::vector<double> error;
  std::vector<double> ulps;
  std::vector<double> open;  // 1 where the exact tier is to be asked, else 0
};

// Of a component row.
struct RowFigures {
  double largest_absolute;
  double largest_ulps;
  std::size_t not_nearest;
  bool any_open;
};

}  // namespace sextant::reference
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/table_comparison.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "reference/double_word-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::reference::HWY_NAMESPACE {

// error = |v - t| for t = scale (high + low), ulps = error / ulp(t), and open, for `count` pairs, a multiple of 8. NaN
// and infinity have none.
//
// scale high = product + rest exactly; v - product is exact where v is within a factor of 2 of it (Sterbenz) and else
// within 2^-53 of itself, like each of the four later operations: error is within 2^-50 of itself, plus 2^-100 |scale|,
// the fast tier's, plus 2^-104 |scale| that the roundings of the rest make where it cancels. slack = 2^-48 error +
// 2^-98 |scale| covers all of it. So near to a zero of t that the latter is 2^-20 ulp(t), neither its ULPs nor the
// nearest value can be told well: open, ulps = 0.
//
// The truth's binade is that of product, or the one below where the rest pulls a power of two down. A value of the
// format nearer to t than ulp(t)/2 is the nearest one; one farther is not (below a power of two the spacing halves, but
// so does ulp(t)).
RowFigures Measure(std::size_t count, double scale, const UlpScale& format, const std::vector<double>& high,
                   const std::vector<double>& low, ComponentRow& row) {
  const hn::CappedTag<double, 8> d;
  const hn::RebindToUnsigned<decltype(d)> du;
  const auto scale_all = hn::Set(d, scale);
  const auto exponent = hn::Set(du, 0x7FF0000000000000U);
  auto largest_absolute = hn::Zero(d);
  auto largest_ulps = hn::Zero(d);
  auto any_open = hn::Zero(d);
  std::size_t not_nearest = 0;
  for (std::size_t i = 0; i < count; i += hn::Lanes(d)) {
    const auto product = TwoProd(scale_all, hn::LoadU(d, &high[i]));
    const auto rest = hn::Add(product.low, hn::Mul(scale_all, hn::LoadU(d, &low[i])));
    const auto value = hn::LoadU(d, &row.value[i]);
    const auto distance = hn::Abs(hn::Sub(hn::Sub(value, product.high), rest));
    const auto error = hn::IfThenElseZero(hn::IsFinite(value), distance);

    // rest is below half an ulp of product in double, so one step towards zero leaves the binade just where t does.
    const auto against =
        hn::Lt(hn::Xor(product.high, hn::IfThenElse(hn::Eq(rest, hn::Zero(d)), product.high, rest)), hn::Zero(d));
    const auto size = hn::BitCast(du, hn::Abs(product.high));
    const auto truncated = hn::Sub(size, hn::IfThenElseZero(hn::RebindMask(du, against), hn::Set(du, 1)));
    const auto binade = hn::Max(hn::BitCast(d, hn::And(truncated, exponent)), hn::Set(d, format.least_binade));
    const auto ulp = hn::Mul(binade, hn::Set(d, format.step));
    const auto floor = hn::Abs(hn::Mul(scale_all, hn::Set(d, 0x1p-98)));
    const auto near_zero = hn::Gt(floor, hn::Mul(ulp, hn::Set(d, 0x1p-20)));
    const auto ulps = hn::IfThenZeroElse(near_zero, hn::Div(error, ulp));
    hn::StoreU(error, d, &row.error[i]);
    hn::StoreU(ulps, d, &row.ulps[i]);
    largest_absolute = hn::Max(largest_absolute, error);
    largest_ulps = hn::Max(largest_ulps, ulps);

    const auto slack = hn::Add(hn::Mul(error, hn::Set(d, 0x1p-48)), floor);
    const auto half = hn::Mul(ulp, hn::Set(d, 0.5));
    const auto beyond = hn::AndNot(near_zero, hn::Gt(hn::Sub(error, slack), half));
    const auto within = hn::AndNot(near_zero, hn::Lt(hn::Add(error, slack), half));
    const auto open = hn::IfThenElseZero(hn::Not(hn::Or(beyond, within)), hn::Set(d, 1));
    not_nearest += hn::CountTrue(d, beyond);
    any_open = hn::Max(any_open, open);
    hn::StoreU(open, d, &row.open[i]);
  }
  return {hn::GetLane(hn::MaxOfLanes(d, largest_absolute)), hn::GetLane(hn::MaxOfLanes(d, largest_ulps)), not_nearest,
          !hn::AllTrue(d, hn::Eq(any_open, hn::Zero(d)))};
}

}  // namespace sextant::reference::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "reference/measures.hpp"

namespace sextant::reference {
namespace {

HWY_EXPORT(Measure);

// Rows of one task: many enough to share the start of a sweep, few enough that the threads end together.
constexpr std::int64_t strip_rows = 512;

struct Strip {
  TableComparison found;
  std::vector<TablePlace> open;
};

// The channels that one component of the pairs 0, 1, 2, ... has in a row.
struct ChannelList {
  std::int64_t first;
  std::int64_t step;

  std::int64_t operator[](std::int64_t pair) const { return first + pair * step; }
};

// Widens the channels of a row; padding beyond them keeps what it had.
void widen(const Tensor& table, std::int64_t start, const ChannelList& channels, std::int64_t count,
           std::vector<double>& out) {
  if (table.dtype == Dtype::float32) {
    const std::byte* source = table.data.data() + static_cast<std::size_t>(start) * sizeof(float);
    for (std::int64_t pair = 0; pair < count; ++pair) {
      float value = 0;
      std::memcpy(&value, source + static_cast<std::size_t>(channels[pair]) * sizeof value, sizeof value);
      out[static_cast<std::size_t>(pair)] = static_cast<double>(value);
    }
    return;
  }
  for (std::int64_t pair = 0; pair < count; ++pair)
    out[static_cast<std::size_t>(pair)] = table.at(start + channels[pair]);
}

// Places come in rising order of row, and within a row of channel, so that the first of equal ones stays.
void raise(double& largest, TablePlace& place, double row_largest, const std::vector<double>& row, std::int64_t at_row,
           const ChannelList& channels) {
  if (row_largest < largest || row_largest == 0) return;
  const auto pair = std::ranges::find(row, row_largest) - row.begin();
  const TablePlace here{at_row, channels[pair]};
  if (row_largest > largest || here.row < place.row || (here.row == place.row && here.channel < place.channel)) {
    largest = row_largest;
    place = here;
  }
}

ComponentRow component_row(std::size_t entries, double value) {
  return {std::vector<double>(entries, value), std::vector<double>(entries), std::vector<double>(entries),
          std::vector<double>(entries)};
}

class Comparison {
 public:
  Comparison(SinusoidalReference& oracle, std::int64_t first, const Tensor& table)
      : encoding_(oracle.encoding()), fast_(oracle.fast()), first_(first), table_(table), pairs_(pairs(encoding_)) {
    const Format format = format_of(table.dtype);
    ulp_scale_ = {std::ldexp(1.0, format.min_exponent), std::ldexp(1.0, 1 - format.precision)};
    const Channels start = channels_of_pair(encoding_, 0);
    const std::int64_t step = pairs_ > 1 ? channels_of_pair(encoding_, 1).first - start.first : 1;
    sine_ = {start.first, step};
    cosine_ = {start.second, step};
  }

  Strip strip(std::int64_t begin, std::int64_t end) const {
    Strip result;
    const std::size_t entries = fast_.make_row().sin_high.size();
    // The padding of a row is the pair of phase 0, which these values meet exactly.
    ComponentRow sine = component_row(entries, 0);
    ComponentRow cosine = component_row(entries, encoding_.scale);
    fast_.sweep(first_ + begin + encoding_.position_offset, end - begin,
                [&](std::int64_t position, const RotationRow& truth) {
                  const std::int64_t row = position - first_ - encoding_.position_offset;
                  take(row, sine_, truth.sin_high, truth.sin_low, sine, result);
                  take(row, cosine_, truth.cos_high, truth.cos_low, cosine, result);
                });
    return result;
  }

 private:
  void take(std::int64_t row, const ChannelList& channels, const std::vector<double>& high,
            const std::vector<double>& low, ComponentRow& component, Strip& result) const {
    widen(table_, row * encoding_.dim, channels, pairs_, component.value);
    const RowFigures figures =
        HWY_DYNAMIC_DISPATCH(Measure)(component.value.size(), encoding_.scale, ulp_scale_, high, low, component);
    TableComparison& found = result.found;
    found.not_finite +=
        std::count_if(component.value.begin(), component.value.end(), [](double v) { return !std::isfinite(v); });
    found.not_nearest += static_cast<std::int64_t>(figures.not_nearest);
    raise(found.largest_absolute, found.largest_absolute_at, figures.largest_absolute, component.error, row, channels);
    raise(found.largest_ulps, found.largest_ulps_at, figures.largest_ulps, component.ulps, row, channels);
    if (!figures.any_open) return;
    for (std::int64_t pair = 0; pair < pairs_; ++pair) {
      const auto i = static_cast<std::size_t>(pair);
      if (component.open[i] != 0 && std::isfinite(component.value[i])) result.open.push_back({row, channels[pair]});
    }
  }

  const Sinusoidal& encoding_;
  FastRotations fast_;
  std::int64_t first_;
  const Tensor& table_;
  std::int64_t pairs_;
  UlpScale ulp_scale_{};
  ChannelList sine_{};
  ChannelList cosine_{};
};

// What the fast tier leaves open about one value.
struct ExactFinding {
  Certainty nearest;
  double ulps;
};

ExactFinding ask_exact_tier(SinusoidalReference& oracle, std::int64_t first, const Tensor& table,
                            const TablePlace& place) {
  const Sinusoidal& encoding = oracle.encoding();
  std::int64_t pair = 0;
  Channels channels = channels_of_pair(encoding, pair);
  while (place.channel != channels.first && place.channel != channels.second)
    channels = channels_of_pair(encoding, ++pair);
  const double value = table.at(place.row * encoding.dim + place.channel);
  double ulps = 0;
  const Certainty nearest = decide([&](Precision precision) {
    const Rotation& rotation = oracle.rotation(first + place.row, pair, precision);
    const Enclosure truth =
        Enclosure(encoding.scale, precision) * (place.channel == channels.first ? rotation.sin : rotation.cos);
    ulps = ulp_error(table.dtype, value, truth).upper();
    return is_correctly_rounded(table.dtype, value, truth);
  });
  return {nearest, ulps};
}

}  // namespace

TableComparison compare(SinusoidalReference& oracle, std::int64_t first, const Tensor& table) {
  if (table.dtype == Dtype::int64 || table.shape.size() != 2 || table.shape[1] != oracle.encoding().dim) {
    throw std::invalid_argument("compare: the table has shape " + shape_text(table.shape) + ", expected [rows, " +
                                std::to_string(oracle.encoding().dim) + "] of a floating dtype");
  }
  const std::int64_t rows = table.shape[0];
  const Comparison comparison(oracle, first, table);
  std::vector<Strip> strips(static_cast<std::size_t>((rows + strip_rows - 1) / strip_rows));
#pragma omp parallel for schedule(dynamic)
  for (std::size_t i = 0; i < strips.size(); ++i) {
    const std::int64_t begin = static_cast<std::int64_t>(i) * strip_rows;
    strips[i] = comparison.strip(begin, std::min(begin + strip_rows, rows));
  }
  TableComparison all;
  all.values = table.elements();
  for (const Strip& strip : strips) {
    all.not_finite += strip.found.not_finite;
    all.not_nearest += strip.found.not_nearest;
    if (strip.found.largest_absolute > all.largest_absolute) {
      all.largest_absolute = strip.found.largest_absolute;
      all.largest_absolute_at = strip.found.largest_absolute_at;
    }
    if (strip.found.largest_ulps > all.largest_ulps) {
      all.largest_ulps = strip.found.largest_ulps;
      all.largest_ulps_at = strip.found.largest_ulps_at;
    }
    all.exact_values += static_cast<std::int64_t>(strip.open.size());
    for (const TablePlace& place : strip.open) {
      const ExactFinding exact = ask_exact_tier(oracle, first, table, place);
      if (exact.nearest == Certainty::unknown)
        throw std::domain_error("compare: a value stays undecided at the last precision");
      if (exact.nearest == Certainty::no) ++all.not_nearest;
      if (exact.ulps > all.largest_ulps) {
        all.largest_ulps = exact.ulps;
        all.largest_ulps_at = place;
      }
    }
  }
  return all;
}

}  // namespace sextant::reference
#endif
