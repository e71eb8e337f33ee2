#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// A lookup.
class LearnedJudge final : public ExactCodeJudge {
 public:
  explicit LearnedJudge(const Learned& encoding)
      : ExactCodeJudge(encoding.dim, SignOfZero::counts), dim_(encoding.dim) {}

 private:
  double value(const Call& call, std::int64_t position, std::int64_t channel) const override {
    return call.weight->at(position * dim_ + channel);
  }

  std::int64_t dim_;
};

class LearnedModel final : public CodeModel {
 public:
  LearnedModel(const Spec& spec, const Learned& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  // A row that was not trained is whatever it was.
  Theory beyond_training() const override { return Theory::fails; }

  // Its fields are the shape of its table.
  std::vector<Variant> variants() const override { return {}; }

  std::vector<Variant> siblings() const override {
    Variants<Learned> list(spec());
    list.with("dim", [](Learned& e) { e.dim += 2; });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<LearnedJudge>(encoding_); }

  // The whole table too, and calls with others among them.
  std::vector<Question> first_questions() const override {
    std::vector<Question> questions = CodeModel::first_questions();
    const auto [first, last] = range();
    for (const gen::Order order : {gen::Order::one_by_one, gen::Order::descending, gen::Order::shuffled})
      questions.push_back(
          {.position = first, .tokens = last - first, .fill = 1, .order = static_cast<std::int64_t>(order)});
    for (const std::int64_t tokens : {2, 5, 33, 130})
      questions.push_back({.position = first, .tokens = tokens, .fill = others_among});
    std::erase_if(questions, [&](const Question& question) { return !admits(question); });
    return questions;
  }

 protected:
  // Of some fills with others among them, so in no order and with repeats: a lookup is not a slice.
  std::vector<std::int64_t> accuracy_positions(const Question& question) const override {
    const auto [first, last] = range();
    std::vector<std::int64_t> positions;
    for (const std::int64_t position : CodeModel::accuracy_positions(question)) {
      positions.push_back(position);
      if (question.fill % others_among_in == others_among && positions.size() % 4 == 1)
        positions.push_back(first + position * 7 % (last - first));
    }
    return positions;
  }

  std::optional<Tensor> drawn_weight(std::int64_t fill) const override {
    return drawn_table(spec().dtype, encoding_.max_positions, encoding_.dim, fill);
  }

 private:
  static constexpr std::int64_t others_among_in = 3;
  static constexpr std::int64_t others_among = 2;

  Learned encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Learned& encoding) {
  return std::make_unique<LearnedModel>(spec, encoding);
}

}  // namespace sextant
