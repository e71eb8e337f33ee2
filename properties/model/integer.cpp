#include "reference/integer.hpp"

#include <cmath>
#include <limits>

#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/screen.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

using reference::Certainty;
using reference::Enclosure;
using reference::Precision;

// A position in one channel: the nearest value. A conversion through a wider type rounds twice: through float32 to the
// 11 bits of float16, or through float64 to the 24 of float32, the first adds 2^(11 - 24 - 1) ULP of the last at most.
// Normalised, two conversions and a division: 3 roundings, within 2 ULP of what they are made in, which in 16 bits is
// float32 unless the spec's evaluation is the dtype's, and one more to the dtype. Beyond the dtype's range the nearest
// value is infinite.
class IntegerJudge final : public CodeJudge {
 public:
  IntegerJudge(const Spec& spec, const Integer& encoding)
      : dtype_(spec.dtype),
        end_(spec.max_position),
        encoding_(encoding),
        allowed_(encoding.normalize ? of_quotient(spec) : 0.5 + 0x1p-14) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    for (std::int64_t i = 0; i < answer.elements(); ++i) {
      const double value = answer.at(i);
      const std::int64_t position = call.positions[static_cast<std::size_t>(i / encoding_.dim)];
      const auto place = [&] { return text_of_code(position, i / encoding_.dim, i % encoding_.dim); };
      judgement.place = position;
      const double nearest = round_to(dtype_, static_cast<double>(position));
      if (!std::isfinite(value) && !encoding_.normalize && value == nearest) {
        judgement.add(Certainty::yes, {}, [&] { return place() + ": NaN or infinite"; });
        continue;
      }
      // A position that the dtype holds is held exactly.
      const bool held = !encoding_.normalize && nearest == static_cast<double>(position);
      const double bound_ulps = held ? 0 : allowed_;
      if (passes(Screen(dtype_, bound_ulps, judgement, position), position, value)) continue;
      judge_bounded(
          judgement, dtype_, value,
          [&](Precision precision) -> SizedTarget {
            const Enclosure truth = exact(position, precision);
            return {truth, Enclosure(bound_ulps, precision) * reference::ulp(dtype_, truth), truth};
          },
          place);
    }
    return judgement;
  }

 private:
  // Whether judging the value would change nothing. The position is a long double; the quotient is within epsilon/2.
  bool passes(const Screen& screen, std::int64_t position, double value) const {
    constexpr long double epsilon = std::numeric_limits<long double>::epsilon();
    const long double truth =
        static_cast<long double>(position) / static_cast<long double>(encoding_.normalize ? end_ - 1 : 1);
    const long double slack = encoding_.normalize ? epsilon * std::fabs(truth) : 0;
    return screen.passes(value, truth, slack, screen.component_bound(std::fabs(static_cast<double>(truth)), 0));
  }

  static double of_quotient(const Spec& spec) {
    const bool is_float32 = spec.evaluation == Evaluation::float32 || spec.evaluation == Evaluation::table;
    if (size_of(spec.dtype) != 2 || !is_float32) return 2;
    return 0.5 + 2 * unit_roundoff(Dtype::float32) / unit_roundoff(spec.dtype);
  }

  Enclosure exact(std::int64_t position, Precision precision) const {
    return reference::code(encoding_, end_, position, precision);
  }

  void judge_rows(Judgement& judgement, const TwoRows& rows) override {
    const std::int64_t position = rows.place[0];
    const bool infinite = !encoding_.normalize && std::isinf(round_to(dtype_, static_cast<double>(position)));
    for (std::int64_t channel = 0; channel < encoding_.dim; ++channel) {
      if (infinite) {
        judge_same_value(judgement, rows, channel);
        continue;
      }
      const auto exact_at = [&](Precision precision) { return exact(position, precision); };
      const auto bound_at = [&](Precision precision) {
        return Enclosure(2 * allowed_, precision) * reference::ulp(dtype_, exact(position, precision));
      };
      judge_channel(judgement, rows, channel, bound_at, exact_at);
    }
  }

  Dtype dtype_;
  std::int64_t end_;  // of the claim
  Integer encoding_;
  double allowed_;  // ULPs
};

class IntegerModel final : public CodeModel {
 public:
  IntegerModel(const Spec& spec, const Integer& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<Integer> list(spec());
    list.with("dim", [](Integer& e) { e.dim += 2; });
    // A count that overflows the dtype answers no question.
    if (static_cast<double>(spec().max_position) <= largest_finite(spec().dtype))
      list.with("normalize", [](Integer& e) { e.normalize = !e.normalize; });
    return list.made();
  }

  // It counts on.
  Theory beyond_training() const override { return encoding_.normalize ? Theory::holds : Theory::fails; }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<IntegerJudge>(spec(), encoding_); }

 private:
  Integer encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Integer& encoding) {
  return std::make_unique<IntegerModel>(spec, encoding);
}

}  // namespace sextant
