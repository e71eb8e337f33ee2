#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// A lookup.
class LearnedJudge final : public ExactCodeJudge {
 public:
  explicit LearnedJudge(const Learned& encoding) : ExactCodeJudge(encoding.dim), dim_(encoding.dim) {}

 private:
  double value(const Call& call, std::int64_t position, std::int64_t channel) const override {
    return call.weight->at(position * dim_ + channel);
  }

  std::int64_t dim_;
};

class LearnedModel final : public CodeModel {
 public:
  LearnedModel(const Spec& spec, const Learned& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  // Its fields are the shape of its table.
  std::vector<Variant> variants() const override { return {}; }

  std::vector<Variant> siblings() const override {
    Variants<Learned> list(spec());
    list.with("dim", [](Learned& e) { e.dim += 2; });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<LearnedJudge>(encoding_); }

 protected:
  // With others among them, so in no order and with repeats: a lookup is not a slice.
  std::vector<std::int64_t> accuracy_positions(const Question& question) const override {
    const auto [first, last] = range();
    std::vector<std::int64_t> positions;
    for (const std::int64_t position : CodeModel::accuracy_positions(question)) {
      positions.push_back(position);
      if (question.tokens > 1 && positions.size() % 4 == 1) positions.push_back(first + position * 7 % (last - first));
    }
    return positions;
  }

  std::optional<Tensor> drawn_weight(std::int64_t fill) const override {
    return drawn_table(spec().dtype, encoding_.max_positions, encoding_.dim, fill);
  }

 private:
  Learned encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Learned& encoding) {
  return std::make_unique<LearnedModel>(spec, encoding);
}

}  // namespace sextant
