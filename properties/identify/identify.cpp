#include "properties/identify/identify.hpp"

#include <fmt/format.h>

#include "lib/spec/of.hpp"
#include "properties/identify/counted_session.hpp"
#include "properties/identify/identify_bias.hpp"
#include "properties/identify/identify_rope.hpp"
#include "properties/identify/identify_sinusoidal.hpp"

namespace sextant::identify {
namespace {

struct OfEncoding {
  CountedSession& session;
  const Spec& probe;

  Identification operator()(const Rope& rope) const { return identify_rope(session, probe, rope); }
  Identification operator()(const RotaryTable& table) const { return identify_rotary_table(session, probe, table); }
  Identification operator()(const Sinusoidal& table) const { return identify_sinusoidal(session, probe, table); }
  Identification operator()(const Alibi& alibi) const { return identify_alibi(session, probe, alibi); }
  Identification operator()(const RelativeBias& bias) const { return identify_relative_bias(session, probe, bias); }
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
  constexpr std::int64_t fewest = 16;
  if (probe.min_position > 0 || probe.max_position < fewest) {
    Identification none;
    none.seen.push_back(fmt::format("positions 0 to {} at least are asked, and the claim has {} to {}", fewest - 1,
                                    probe.min_position, probe.max_position - 1));
    return none;
  }
  CountedSession session(subject.open(probe));
  return of_each(probe, OfEncoding{session, probe});
}

}  // namespace sextant::identify
