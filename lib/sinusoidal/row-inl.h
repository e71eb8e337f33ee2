// A row of the sinusoidal encoding, a vector of pairs at a time and each with care, for one Highway target: included
// inside HWY_NAMESPACE by a file that is compiled once per target.
//
// The encoding's own linear shift is the algorithm: PE(p + j) is PE(p) turned by e^{i w j} (Vaswani et al. 2017,
// section 3.5). A block of rows keeps an anchor z = scale e^{i w p} for each pair, and row p + j is one complex product
// with a row of steps that is computed once per encoder. Row p - j is made of the same real products.
//
// The bounds are proved in docs/proofs/sinusoidal-rows.md. With u = 2^-53, s = |scale|: 2^-93 s for float64 (step 2),
// 6 u s for the quick certificate and 2^-50 s for the other (step 3). A lane that the certificate leaves open is
// computed by itself (step 5).

#if defined(SEXTANT_LIB_SINUSOIDAL_ROW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_ROW_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_ROW_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_ROW_INL_H_
#endif

#include <hwy/highway.h>

#include <array>
#include <cstdlib>
#include <optional>

#include "lib/kernels/certify-inl.h"
#include "lib/sinusoidal/anchors-inl.h"
#include "lib/sinusoidal/row_placer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

template <class Type>
using BitsTag = typename Type::template Bits<Doubles>;
template <class Type>
using BitsVector = hn::Vec<BitsTag<Type>>;

/// Elements of the lanes of one vector of pairs.
template <class Type>
struct Elements {
  BitsVector<Type> sin;
  BitsVector<Type> cos;
};

/// Computes the open lanes anew, first in double-double, then by the last tier. False if that does not decide either.
/// Vectors are passed by value: references to them would keep the caller's in memory.
template <class Type>
HWY_NOINLINE bool Redo(const SinusoidalPlan& plan, std::size_t pair, std::int64_t position,
                       Certified<BitsTag<Type>> sin, Certified<BitsTag<Type>> cos, Elements<Type>& out) {
  using Lane = hn::TFromD<BitsTag<Type>>;
  constexpr std::size_t lanes = FrequencyPieces::lanes;
  const BitsTag<Type> bits;
  const Doubles d;
  const double scale = plan.encoding.scale;
  // Of the sines, then of the cosines.
  struct alignas(64) Lanes {
    std::array<double, lanes> high;
    std::array<double, lanes> low;
    std::array<Lane, lanes> element;
    std::array<Lane, lanes> open;
  };
  std::array<Lanes, 2> parts{};
  const PreciseRotation z = PreciseRotationAt(plan.frequencies, pair, split_position(position), unit_circle());
  const auto take = [&](const DoubleDouble<DoubleVector>& value, const Certified<BitsTag<Type>>& certified,
                        Lanes& part) {
    const DoubleDouble<DoubleVector> scaled = Multiply(value, hn::Set(d, scale));
    hn::StoreU(scaled.high, d, part.high.data());
    hn::StoreU(scaled.low, d, part.low.data());
    hn::StoreU(certified.bits, bits, part.element.data());
    hn::StoreU(hn::VecFromMask(bits, certified.undecided), bits, part.open.data());
  };
  take(z.sin, sin, parts[0]);
  take(z.cos, cos, parts[1]);
  const double error = 0x1p-98 * std::fabs(scale);
  bool decided = true;
  for (std::size_t lane = 0; lane < hn::Lanes(d) && pair + lane < plan.frequencies.pairs(); ++lane) {
    for (const Component component : {Component::sin, Component::cos}) {
      Lanes& part = parts[component == Component::sin ? 0 : 1];
      if (part.open[lane] == 0) continue;
      std::optional<double> value;
      if (ScaleIsModerate(scale) && position != 0)
        value = round_interval(Type::dtype, part.high[lane], part.low[lane], error);
      if (!value) {
        value = exact_value(Type::dtype, plan, static_cast<std::int64_t>(pair + lane), position, component);
      }
      if (!value) {
        decided = false;
        continue;
      }
      typename Type::Element rounded;
      store(Type::dtype, *value, reinterpret_cast<std::byte*>(&rounded));
      part.element[lane] = rounded;
    }
  }
  out = {hn::LoadU(bits, parts[0].element.data()), hn::LoadU(bits, parts[1].element.data())};
  return decided;
}

/// The channels of a row: pairs side by side, of the one or the other order, or one half and then the other.
enum class Order { sin_cos, cos_sin, halves };

/// Puts the elements of a vector of pairs in place, the i-th of the tile and those after it.
template <class Type, Order order, Caching caching>
HWY_INLINE void Put(const Elements<Type>& elements, std::size_t i, const RowPlace<Type>& place) {
  const Doubles d;
  if constexpr (order == Order::halves && caching == Caching::streamed) {
    StreamElements(Type(), d, elements.sin, place.sin + i);
    StreamElements(Type(), d, elements.cos, place.cos + i);
  } else if constexpr (order == Order::halves) {
    if (place.earlier == Component::sin) {
      StoreElements(Type(), d, elements.sin, place.sin + i);
      StoreElements(Type(), d, elements.cos, place.cos + i);
    } else {
      StoreElements(Type(), d, elements.cos, place.cos + i);
      StoreElements(Type(), d, elements.sin, place.sin + i);
    }
  } else {
    const auto first = order == Order::sin_cos ? elements.sin : elements.cos;
    const auto second = order == Order::sin_cos ? elements.cos : elements.sin;
    if constexpr (caching == Caching::streamed) {
      StreamPairs(Type(), d, first, second, place.sin + 2 * i);
    } else {
      StorePairs(Type(), d, first, second, place.sin + 2 * i);
    }
  }
}

/// The pairs of a tile at one row: `offset` rows after the anchors'.
struct RowOf {
  const SinusoidalPlan& plan;
  const Tile& tile;
  const Anchors& anchors;
  std::int64_t anchor;
  std::int64_t offset;

  std::int64_t Position() const { return anchor + offset; }
  const double* Steps() const { return plan.step_high[plan.step_at(std::abs(offset), tile.first)].sin.data(); }
};

/// The anchors from i on turned to the row: in double-double for float64, else in double.
template <class Type>
HWY_INLINE auto TurnedTo(const RowOf& row, std::size_t i) {
  if constexpr (Type::dtype == Dtype::float64) {
    const PreciseRotation step = LoadStep(row.plan, std::abs(row.offset), row.tile.first + i);
    return Multiply(LoadAnchor(row.anchors, i), row.offset < 0 ? Conjugate(step) : step);
  } else {
    const Products products = MultiplyInDouble(row.Steps() + StepOffset(i), row.anchors, i);
    return row.offset < 0 ? products.Before() : products.After();
  }
}

/// Type::Certify, but that ends are rounded to 16 bits once: of the floats that are ties, which the quick certificate
/// leaves open, hardly one stays so.
template <class Type, class Value>
HWY_INLINE Certified<BitsTag<Type>> CertifyOnce(const Value& value, DoubleVector bound) {
  const Doubles d;
  if constexpr (sizeof(typename Type::Element) == 2) {
    const auto upper = Type::Round(d, hn::Add(value, bound));
    return {upper, hn::Ne(Type::Round(d, hn::Sub(value, bound)), upper)};
  } else {
    return Type::Certify(d, value, bound);
  }
}

/// Rounds a vector of pairs, the i-th of the tile and those after it, with the certificate, computes anew what that
/// leaves open, and puts it at index `at` of the place. False if the last tier could not decide. `Value` is Rotation,
/// or PreciseRotation for float64. Vectors come by value, as Redo's.
template <class Type, Order order, Caching caching, class Value>
HWY_NOINLINE bool PutCertified(const RowOf& row, Value z, std::size_t i, const RowPlace<Type>& place, std::size_t at) {
  const Doubles d;
  const BitsTag<Type> bits;
  const double magnitude = std::fabs(row.plan.encoding.scale);
  const DoubleVector bound = hn::Set(d, (Type::dtype == Dtype::float64 ? 0x1p-93 : 0x1p-50) * magnitude);
  Certified<BitsTag<Type>> sin = CertifyOnce<Type>(z.sin, bound);
  Certified<BitsTag<Type>> cos = CertifyOnce<Type>(z.cos, bound);
  // Beyond the range of scales the bounds do not hold.
  const auto beyond = hn::FirstN(bits, ScaleIsModerate(magnitude) ? 0 : hn::Lanes(bits));
  sin.undecided = hn::Or(sin.undecided, beyond);
  cos.undecided = hn::Or(cos.undecided, beyond);
  Elements<Type> elements{sin.bits, cos.bits};
  const bool decided = hn::AllFalse(bits, hn::Or(sin.undecided, cos.undecided)) ||
                       Redo<Type>(row.plan, row.tile.first + i, row.Position(), sin, cos, elements);
  Put<Type, order, caching>(elements, at, place);
  return decided;
}

/// A row: the anchors turned, rounded, certified if asked for, and put in place, a vector at a time. In the
/// concatenated layout vectors go from the last to the first, so that what a padded vector of the earlier half writes
/// too much is overwritten by the later half's.
template <class Type, Rounding rounding, Order order, Caching caching>
bool EncodeWithCare(const RowOf& row, const RowPlace<Type>& place) {
  const Doubles d;
  bool decided = true;
  for (std::size_t done = 0; done < row.tile.padded; done += hn::Lanes(d)) {
    const std::size_t i = order == Order::halves ? row.tile.padded - hn::Lanes(d) - done : done;
    if constexpr (rounding == Rounding::certified) {
      decided &= PutCertified<Type, order, caching>(row, TurnedTo<Type>(row, i), i, place, i);
    } else {
      const auto z = TurnedTo<Type>(row, i);
      if constexpr (Type::dtype == Dtype::float64) {
        Put<Type, order, caching>({Type::Round(d, z.sin.high), Type::Round(d, z.cos.high)}, i, place);
      } else {
        Put<Type, order, caching>({Type::RoundTwice(d, z.sin), Type::RoundTwice(d, z.cos)}, i, place);
      }
    }
  }
  return decided;
}

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
