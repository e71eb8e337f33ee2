#include "properties/identify/identify.hpp"

#include <fmt/format.h>

#include "lib/spec/of.hpp"
#include "properties/identify/counted_session.hpp"
#include "properties/identify/identify_rope.hpp"

namespace sextant::identify {
namespace {

struct OfEncoding {
  CountedSession& session;
  const Spec& probe;

  Identification operator()(const Rope& rope) const { return identify_rope(session, probe, rope); }
  Identification operator()(const auto&) const {
    Identification none;
    none.seen.push_back(fmt::format("no way is known to tell what computes {}", encoding_name(probe)));
    return none;
  }
};

}  // namespace

std::string_view name_of(Confidence confidence) {
  switch (confidence) {
    case Confidence::high: return "high";
    case Confidence::medium: return "medium";
    case Confidence::low: return "low";
    case Confidence::none: return "none";
  }
  return "";
}

Identification identify(const Subject& subject, const Spec& probe) {
  CountedSession session(subject.open(probe));
  return of_each(probe, OfEncoding{session, probe});
}

}  // namespace sextant::identify
