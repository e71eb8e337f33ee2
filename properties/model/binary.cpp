#include "reference/binary.hpp"

#include <bit>

#include "properties/model/codes.hpp"
#include "properties/model/models.hpp"
#include "properties/model/variants.hpp"

namespace sextant {
namespace {

// Digits, which every dtype holds.
class BinaryJudge final : public ExactCodeJudge {
 public:
  explicit BinaryJudge(const Binary& encoding) : ExactCodeJudge(encoding.dim), encoding_(encoding) {}

 private:
  double value(const Call&, std::int64_t position, std::int64_t channel) const override {
    return static_cast<double>(reference::digit(encoding_, position, channel));
  }

  Binary encoding_;
};

class BinaryModel final : public CodeModel {
 public:
  BinaryModel(const Spec& spec, const Binary& encoding) : CodeModel(spec, encoding.dim), encoding_(encoding) {}

  std::vector<Variant> variants() const override {
    Variants<Binary> list(spec());
    list.with("dim", [](Binary& e) { e.dim += 2; });
    list.with("normalize", [](Binary& e) { e.normalize = !e.normalize; });
    return list.made();
  }

  // Where more digits are needed, the first of them has been 0 so far.
  Theory beyond_training() const override {
    const auto digits = [](std::int64_t p) { return std::bit_width(static_cast<std::uint64_t>(p)); };
    return digits(range().last - 1) > digits(trained_end() - 1) ? Theory::fails : Theory::holds;
  }

  std::unique_ptr<Judge> judge() const override { return std::make_unique<BinaryJudge>(encoding_); }

 private:
  Binary encoding_;
};

}  // namespace

std::unique_ptr<EncodingModel> make_model(const Spec& spec, const Binary& encoding) {
  return std::make_unique<BinaryModel>(spec, encoding);
}

}  // namespace sextant
