#include "reference/log_coordinates.hpp"

#include <algorithm>
#include <map>
#include <numbers>
#include <utility>

#include "properties/model/cell_questions.hpp"
#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/value_judge.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;

// log2(y) / 3 of y = 1 + 8 |d| / (e - 1), as the released code forms it: a quotient and a sum are rounded, by the
// roundoff v of the accuracy class, a product by 8 is exact. The quotient is part of y, so y is within g = 2 v / (1 - 2
// v) of itself (Higham 2002, lemma 3.1), and |ln(1 + t)| <= g / (1 - g) for |t| <= g: an absolute error of that / (3 ln
// 2). The logarithm and the division by 3 are evaluation, k ULP as everywhere (budget.hpp).
double error_of_logarithm(const Spec& spec) {
  const double v = angle_roundoff(spec.accuracy);
  const double g = 2 * v / (1 - 2 * v);
  return g / (1 - g) / (3 * std::numbers::ln2) * (1 + 0x1p-40);
}

class LogCoordinatesJudge final : public CodeJudge {
 public:
  LogCoordinatesJudge(const Spec& spec, const LogCoordinates& encoding)
      : dtype_(spec.dtype),
        encoding_(encoding),
        ulps_(evaluation_ulps(arithmetic_of(spec))),
        absolute_(error_of_logarithm(spec)) {}

  Judgement values(const Call& call, const Tensor& answer) override {
    Judgement judgement;
    const std::int64_t rows = answer.shape[0];
    const std::int64_t width = axes(encoding_);
    for (std::int64_t i = 0; i < answer.elements(); ++i) {
      const std::int64_t axis = i % width;
      const std::int64_t offset = call.positions[static_cast<std::size_t>(axis * rows + i / width)];
      judgement.place = offset;
      // An offset of 0 has the code 0, whatever rounds.
      if (offset == 0 && answer.at(i) == 0 && !judgement.finding.empty()) continue;
      judge_bounded(
          judgement, dtype_, answer.at(i),
          [&](Precision precision) -> SizedTarget {
            return precision.bits == reference::first_precision.bits ? at_first(axis, offset)
                                                                     : target(axis, offset, precision);
          },
          [&] { return text_of_code(offset, i / width, axis); });
    }
    return judgement;
  }

 private:
  SizedTarget target(std::int64_t axis, std::int64_t offset, Precision precision) const {
    const Enclosure truth = reference::log_coordinate(encoding_, axis, offset, precision);
    return {truth, bound(truth, offset, precision), truth};
  }

  // Kept, since calls about a window have few offsets, each many times.
  const SizedTarget& at_first(std::int64_t axis, std::int64_t offset) {
    constexpr std::size_t most_kept = 4096;
    if (kept_.size() > most_kept) kept_.clear();
    const std::pair key{axis, offset};
    const auto found = kept_.find(key);
    if (found != kept_.end()) return found->second;
    return kept_.emplace(key, target(axis, offset, reference::first_precision)).first->second;
  }

  Enclosure bound(const Enclosure& truth, std::int64_t offset, Precision precision) const {
    if (offset == 0) return {0.0, precision};
    return Enclosure(ulps_, precision) * reference::ulp(dtype_, truth) + Enclosure(absolute_, precision);
  }

  void judge_rows(Judgement& judgement, const TwoRows& rows) override {
    for (std::int64_t axis = 0; axis < axes(encoding_); ++axis) {
      const std::int64_t offset = rows.place[static_cast<std::size_t>(axis)];
      const auto truth = [&](Precision precision) {
        return reference::log_coordinate(encoding_, axis, offset, precision);
      };
      judge_channel(
          judgement, rows, axis,
          [&](Precision precision) { return Enclosure(2.0, precision) * bound(truth(precision), offset, precision); },
          truth);
    }
  }

  Dtype dtype_;
  LogCoordinates encoding_;
  double ulps_;
  double absolute_;
  std::map<std::pair<std::int64_t, std::int64_t>, SizedTarget> kept_;  // by axis and offset, at the first precision
};

class LogCoordinatesModel final : public CodeModel {
 public:
  LogCoordinatesModel(const Spec& spec, const LogCoordinates& encoding)
      : CodeModel(spec, axes(encoding)), encoding_(encoding) {}

  gen::PositionRange range() const override {
    gen::PositionRange shared = within(0);
    for (std::int64_t axis = 1; axis < axes(encoding_); ++axis)
      shared = {std::max(shared.first, within(axis).first), std::min(shared.last, within(axis).last)};
    return shared;
  }

  // A question's offsets begin again at the end of each axis, so it may begin anywhere on the longest.
  std::vector<FieldOf<Question>> question_fields() const override {
    std::vector<FieldOf<Question>> fields = CodeModel::question_fields();
    for (FieldOf<Question>& field : fields) {
      if (field.role == FieldRole::position) field.range = {longest().first, longest().last - 1};
    }
    return fields;
  }

  // The whole table too, which is what models ask: every pair of offsets within the window, in order, and smaller ones.
  std::vector<Question> first_questions() const override {
    std::vector<Question> questions = CodeModel::first_questions();
    for (const std::int64_t rows : {offsets(), offsets() / 2, std::int64_t{6}, std::int64_t{15}, std::int64_t{64}}) {
      for (const gen::Order order : {gen::Order::one_by_one, gen::Order::descending, gen::Order::shuffled}) {
        const Question question{
            .position = range().first, .tokens = rows, .fill = whole_table, .order = static_cast<std::int64_t>(order)};
        if (rows > 0 && rows <= longest_drawn && admits(question)) questions.push_back(question);
      }
    }
    // From the window's first offsets on, and from 0.
    for (const std::int64_t position : {longest().first, gen::simplest_position(range())}) {
      for (const Question& question : questions_of_cells(space(), position)) {
        if (admits(question)) questions.push_back(question);
      }
    }
    return questions;
  }

  rc::Gen<Question> drawn_questions() const override { return with_drawn_cells(CodeModel::drawn_questions(), space()); }

  std::vector<Question> questions_of_same_ends() const override { return sextant::questions_of_same_ends(space()); }

  SweepOf<Question> sweep(std::int64_t most_values) const override {
    if (cells_of(space()) <= most_values / judged_values()) return sweep_of_cells(space());
    SweepOf<Question> sweep = sweep_over(longest(), judged_values(), most_values);
    sweep.of = "offsets of each axis";
    return sweep;
  }

  // Divisors of another window, of one axis alone too: a square one hides which is whose.
  std::vector<Variant> variants() const override {
    Variants<LogCoordinates> list(spec());
    if (encoding_.pretrained_window.empty()) {
      list.with("window", [](LogCoordinates& e) { e.window.back() += 3; });
      list.with("window", [](LogCoordinates& e) { e.window.front() += 5; });
      list.with("pretrained_window", [](LogCoordinates& e) {
        e.pretrained_window = e.window;
        e.pretrained_window.back() += 4;
      });
    } else {
      list.with("pretrained_window", [](LogCoordinates& e) { e.pretrained_window.back() += 3; });
      list.with("pretrained_window", [](LogCoordinates& e) { e.pretrained_window.front() += 5; });
      list.with("pretrained_window", [](LogCoordinates& e) {
        if (e.window != e.pretrained_window && std::ranges::min(e.window) > 1) e.pretrained_window.clear();
      });
    }
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<LogCoordinatesJudge>(spec(), encoding_); }

 protected:
  // Each axis at a rate of its own: along a diagonal one axis could stand for another.
  std::vector<std::int64_t> accuracy_positions(const Question& question) const override {
    if (auto positions = cell_positions(space(), question)) return *std::move(positions);
    const auto [first, last] = longest();
    const std::int64_t width = last - first;
    const auto order = static_cast<gen::Order>(question.order);
    std::vector<std::int64_t> positions;
    for (std::int64_t axis = 0; axis < axes(encoding_); ++axis) {
      for (std::int64_t token = 0; token < question.tokens; ++token) {
        const std::int64_t step = gen::steps(order, 0, token, question.tokens);
        if (question.fill == whole_table) {
          positions.push_back(within(axis).first + step / offsets(axis + 1) % offsets_on(axis));
          continue;
        }
        const std::int64_t start = question.position - first;
        const std::int64_t place = (start + (axis + 1) * (step % width) + 3 * axis) % width;
        positions.push_back(within(axis).first + place % offsets_on(axis));
      }
    }
    return positions;
  }

 private:
  // The fill of questions about offsets within the window, the last axis fastest.
  static constexpr std::int64_t whole_table = 700;

  // Offsets that the claim has on an axis: those within the axis' own window, unless the claim goes on beyond every
  // window.
  gen::PositionRange within(std::int64_t axis) const {
    const auto [first, last] = gen::range_of(spec());
    const auto [shortest, longest] = std::ranges::minmax(encoding_.window);
    const bool is_of_window = first > -longest && last <= longest && first < shortest && last > 1 - shortest;
    if (!is_of_window) return {first, last};
    const std::int64_t extent = encoding_.window[static_cast<std::size_t>(axis)];
    return {std::max(first, 1 - extent), std::min(last, extent)};
  }
  gen::PositionRange longest() const {
    gen::PositionRange longest = within(0);
    for (std::int64_t axis = 1; axis < axes(encoding_); ++axis) {
      if (offsets_on(axis) > longest.last - longest.first) longest = within(axis);
    }
    return longest;
  }
  CellSpace space() const {
    CellSpace space{.axes = {}, .values = values_of_token};
    for (std::int64_t axis = 0; axis < axes(encoding_); ++axis) {
      space.axes.push_back(within(axis));
      space.grid.push_back(offsets_on(axis));
    }
    return space;
  }

  // Of more than a table's few, so that calls are as large as tables are, and no larger.
  static constexpr std::int64_t values_of_token = 256;

  std::int64_t offsets_on(std::int64_t axis) const { return within(axis).last - within(axis).first; }

  // Of all axes from this one on.
  std::int64_t offsets(std::int64_t axis = 0) const {
    std::int64_t count = 1;
    for (; axis < axes(encoding_); ++axis) count *= offsets_on(axis);
    return count;
  }

  LogCoordinates encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const LogCoordinates& encoding) {
  return std::make_unique<LogCoordinatesModel>(spec, encoding);
}

}  // namespace sextant
