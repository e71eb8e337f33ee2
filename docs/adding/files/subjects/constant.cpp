#include <fmt/format.h>

#include <charconv>

#include "subjects/kind.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// A subject that gives every position the same code: what an implementation comes to that forgets the position.
class ConstantSession final : public Session {
 public:
  ConstantSession(const Spec& spec, double value)
      : dtype_(spec.dtype), dim_(signature_of(spec.encoding).dim), value_(value) {}

  Description describe() override { return {"constant", "", {"encode"}, {}}; }

  Tensors call(std::string_view operation, const Tensors& inputs) override {
    if (operation != "encode" || !dim_)
      throw SubjectFailure(FailureKind::unsupported, "a constant subject answers encode only");
    const auto positions = inputs.find("positions");
    if (positions == inputs.end()) throw SubjectFailure(FailureKind::error, "the request has no tensor \"positions\"");
    Tensor table = Tensor::zeros(dtype_, {positions->second.elements(), *dim_});
    for (std::int64_t i = 0; i < table.elements(); ++i) table.set(i, value_);
    return {{"encoding", std::move(table)}};
  }

 private:
  Dtype dtype_;
  std::optional<std::int64_t> dim_;
  double value_;
};

class ConstantSubject final : public Subject {
 public:
  ConstantSubject(std::string name, double value) : name_(std::move(name)), value_(value) {}
  std::string name() const override { return name_; }
  std::unique_ptr<Session> open(const Spec& spec) const override {
    return std::make_unique<ConstantSession>(spec, value_);
  }

 private:
  std::string name_;
  double value_;
};

}  // namespace

/// The same number for every element.
SubjectKind constant_kind() {
  return {"constant", "constant:NUMBER",
          [](const std::string& name, const std::string& text, const Spec&,
             const OpenOptions&) -> std::unique_ptr<Subject> {
            double value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error != std::errc() || end != text.data() + text.size())
              throw SubjectNameError(fmt::format("{}: expected a number after the colon", name));
            return std::make_unique<ConstantSubject>(name, value);
          }};
}

}  // namespace sextant
