#include "subjects/builtin.hpp"

#include <variant>

#include "lib/rope/rope.hpp"
#include "lib/sinusoidal/sinusoidal.hpp"

#ifndef SEXTANT_VERSION
#error "the build defines SEXTANT_VERSION"
#endif

namespace sextant {
namespace {

// Nothing where lib/ has no encoder for the spec: its operations are unsupported.
using Encoder = std::variant<std::monostate, SinusoidalEncoder, RopeEncoder>;

Encoder encoder_for(const Spec& spec) {
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding)) return SinusoidalEncoder(*sinusoidal);
  if (const auto* rope = std::get_if<Rope>(&spec.encoding)) return RopeEncoder(*rope);
  return std::monostate();
}

// What the built-in encoders do not have of this spec.
std::string missing(const Spec& spec) { return std::string(encoding_name(spec)); }

class BuiltinSession final : public Session {
 public:
  explicit BuiltinSession(const Spec& spec) : dtype_(spec.dtype), missing_(missing(spec)), encoder_(encoder_for(spec)) {}

  Description describe() override {
    return {"sextant", SEXTANT_VERSION, {"encode", "rotate"}, {"float64", "float32", "float16", "bfloat16"}};
  }

  Tensors call(std::string_view operation, const Tensors& inputs) override {
    if (const auto* sinusoidal = std::get_if<SinusoidalEncoder>(&encoder_); sinusoidal && operation == "encode") {
      return {{"encoding", sinusoidal->encode(inputs.at("positions").integers(), dtype_)}};
    }
    if (const auto* rope = std::get_if<RopeEncoder>(&encoder_); rope && operation == "rotate") {
      return {{"y", rope->rotate(inputs.at("x"), inputs.at("positions").integers())}};
    }
    if (std::holds_alternative<std::monostate>(encoder_)) throw SubjectFailure(FailureKind::unsupported, "builtin has no " + missing_);
    throw SubjectFailure(FailureKind::unsupported, "builtin has no operation " + std::string(operation) + " for this spec");
  }

 private:
  Dtype dtype_;
  std::string missing_;
  Encoder encoder_;
};

class BuiltinSubject final : public Subject {
 public:
  std::string name() const override { return "builtin"; }
  std::unique_ptr<Session> open(const Spec& spec) const override { return std::make_unique<BuiltinSession>(spec); }
};

}  // namespace

std::unique_ptr<Subject> builtin_subject() { return std::make_unique<BuiltinSubject>(); }

}  // namespace sextant
