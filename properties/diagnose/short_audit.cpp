#include "properties/diagnose/short_audit.hpp"

#include <memory>
#include <string>

#include "properties/catalogue.hpp"
#include "properties/engine/engine.hpp"
#include "properties/identify/asked_once_more.hpp"

namespace sextant::identify {
namespace {

// A subject that is always opened under one claim, whatever it is asked for.
class OpenedUnder final : public Subject {
 public:
  OpenedUnder(const Subject& subject, const Spec& claim) : subject_(subject), claim_(claim) {}

  std::string name() const override { return subject_.name(); }
  bool is_live() const override { return subject_.is_live(); }
  Spec within_reach(const Spec& spec) const override { return subject_.within_reach(spec); }
  std::unique_ptr<Session> open(const Spec&) const override { return subject_.open(claim_); }

 private:
  const Subject& subject_;
  const Spec& claim_;
};

}  // namespace

ShortAudit audited(const Subject& subject, const Spec& claim) {
  AuditOptions options;
  options.profile = Profile::quick;
  options.amount = {.values = 1 << 16, .cases = 12, .largest_call = 4096};
  options.counterexamples = Counterexamples::not_sought;
  const AuditOutcome outcome = audit({*property_named("accuracy")}, subject, claim, options);
  const PropertyResult& result = outcome.results.front();
  // A few cases may all be of one kind: long calls, or short ones.
  const bool holds = result.verdict == Verdict::holds && answers_unlike(*subject.open(claim), claim).empty();
  return {holds, result.worst ? result.worst->deviation.of_bound : 0};
}

ShortAudit audited_as_asked(const Subject& subject, const Spec& asked, const Spec& claim) {
  return audited(OpenedUnder(subject, asked), claim);
}

}  // namespace sextant::identify
