#include "properties/diagnose/places/positions_beyond.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/spec/position_grid.hpp"
#include "lib/spec/without_field.hpp"

#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

struct OtherNumber {
  std::string words;
  std::function<std::int64_t(std::int64_t position)> of;
};

std::vector<OtherNumber> numbers_beyond(std::int64_t border, double step) {
  const double at = static_cast<double>(border) * step;
  std::vector<OtherNumber> list{
      {fmt::format("have position {:g}", static_cast<double>(border - 1) * step),
       [border](std::int64_t) { return border - 1; }},
      {fmt::format("wrap: position p is taken for p mod {:g}", at), [border](std::int64_t p) { return p % border; }},
      {fmt::format("are counted from there: {:g} is taken for 0", at),
       [border](std::int64_t p) { return p - border; }}};
  for (const int bits : {8, 16, 32}) {
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    if (border == half && step == 1)
      list.push_back({fmt::format("are numbers of {} bits with a sign: {} is taken for -{}", bits, half, half),
                      [half](std::int64_t p) { return (p + half) % (2 * half) - half; }});
  }
  return list;
}

// A claim that has positions before 0, which others are not asked at.
Spec with_positions_before_0(Spec claim) {
  claim.min_position = std::min(claim.min_position, -claim.max_position);
  return claim;
}

// The judges of a claim and of one that has positions before 0 too.
class BothJudges {
 public:
  explicit BothJudges(const Spec& claim) : own_(model_of(claim)), wider_(with_positions_before_0(claim)) {}

  bool is_right(const Call& call, const Tensor& got) {
    const std::int64_t position = call.positions.front();
    if (position >= own_->range().last) return false;
    const bool is_claimed = position >= own_->range().first;
    std::unique_ptr<Judge>& judge = is_claimed ? of_claim_ : of_wider_;
    if (!judge) {
      try {
        validate(wider_);
      } catch (const SpecError&) {
        if (!is_claimed) return false;
      }
      judge = is_claimed ? own_->judge() : model_of(wider_)->judge();
    }
    return judge->values(call, got).within == reference::Certainty::yes;
  }

 private:
  std::unique_ptr<EncodingModel> own_;
  Spec wider_;
  std::unique_ptr<Judge> of_claim_;
  std::unique_ptr<Judge> of_wider_;
};

bool are_right_at(BothJudges& judges, const std::vector<ComparedVector>& compared, const OtherNumber& other) {
  std::set<std::int64_t> told;
  for (const ComparedVector& vector : compared) {
    Call taken = vector.alone;
    const std::int64_t own = taken.positions.front();
    taken.positions.front() = other.of(own);
    if (taken.positions.front() == own || !judges.is_right(taken, vector.got)) return false;
    told.insert(own);
  }
  // One position alone is another one by chance, or for another reason.
  constexpr std::size_t enough = 3;
  return told.size() >= enough;
}

}  // namespace

std::string words_of_positions_beyond(const Spec& claim, const VectorJudge& judge, const WrongPlace& place) {
  if (axes_of(claim.encoding) > 1 || judge.compared().empty() || !place.first_position) return {};
  const std::int64_t border = *place.first_position;
  const bool is_sharp = std::ranges::any_of(
      judge.vectors(), [&](const JudgedVector& vector) { return !vector.is_wrong && vector.position == border - 1; });
  if (!is_sharp) return {};
  BothJudges judges(claim);
  const std::vector<OtherNumber> list = numbers_beyond(border, judge.step());
  const auto other =
      std::ranges::find_if(list, [&](const OtherNumber& one) { return are_right_at(judges, judge.compared(), one); });
  if (other == list.end()) return {};
  const bool is_of_position_alone =
      place.words == fmt::format("positions from {:.10g} on", static_cast<double>(border) * judge.step());
  if (is_of_position_alone && other == list.begin() && one_step_of(claim) == 1)
    return fmt::format("positions above {} are clamped to it", border - 1);
  return fmt::format("{} {}, and the rest is right", place.words, other->words);
}

std::string words_of_fields_left_out(const Spec& claim, const VectorJudge& judge, const WrongPlace& place) {
  constexpr std::size_t enough = 3;
  if (judge.compared().size() < enough) return {};
  constexpr std::string_view not_of_values[] = {"accuracy",     "evaluation",   "dtype",
                                                "min_position", "max_position", "trained_positions"};
  const std::int64_t own_values = model_of(claim)->judged_values();
  for (const ChangedClaim& changed : without_each_field(claim)) {
    if (std::ranges::find(not_of_values, changed.field) != std::end(not_of_values)) continue;
    if (axes_of(changed.spec.encoding) != axes_of(claim.encoding) ||
        position_grid_of(changed.spec.encoding).step != position_grid_of(claim.encoding).step)
      continue;
    const auto model = model_of(changed.spec);
    // Of answers of another size nothing is judged.
    if (model->not_judged() || model->judged_values() != own_values) continue;
    const auto other = model->judge();
    const bool are_its = std::ranges::all_of(judge.compared(), [&](const ComparedVector& one) {
      return other->values(one.alone, one.got).within == reference::Certainty::yes;
    });
    if (are_its)
      return fmt::format("{} {} as though {} were not given, and the rest is right", place.words,
                         place.is_many ? "are" : "is", changed.field);
  }
  return {};
}

}  // namespace sextant::identify
