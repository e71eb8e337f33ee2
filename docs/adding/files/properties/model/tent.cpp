#include "reference/tent.hpp"

#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// Multiples of 2^-7 up to 1, which every dtype holds.
class TentJudge final : public ExactCodeJudge {
 public:
  explicit TentJudge(const Tent& encoding) : ExactCodeJudge(encoding.dim), encoding_(encoding) {}

 private:
  double value(const Call&, std::int64_t position, std::int64_t channel) const override {
    return reference::code(encoding_, position, channel, reference::first_precision).upper();
  }

  Tent encoding_;
};

class TentModel final : public CodeModel {
 public:
  TentModel(const Spec& spec, const Tent& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<Tent> list(spec());
    list.with("dim", [](Tent& e) { e.dim = e.dim > 1 ? e.dim - 1 : 2; });
    return list.made();
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<TentJudge>(encoding_); }

 private:
  Tent encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Tent& encoding) {
  return std::make_unique<TentModel>(spec, encoding);
}

}  // namespace sextant
