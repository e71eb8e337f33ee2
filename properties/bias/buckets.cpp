#include <fmt/format.h>

#include <algorithm>

#include "properties/catalogue.hpp"
#include "properties/gen/position.hpp"
#include "reference/relative_bias.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

constexpr std::int64_t most = 4096;  // distances of a call

// How far a key and a query of the claim can be apart.
std::int64_t reach(const Spec& spec) { return spec.max_position - spec.min_position - 1; }

}  // namespace

Property bucket_property() {
  Property property;
  property.id = "bucket";
  property.needs = Needs::live_subject;
  property.explanation = {
      "each distance falls into its bucket",
      "n < E: n; else min(B - 1, E + floor(ln(n/E) / ln(max_distance/E) (B - E))); B more for keys after the query "
      "where bidirectional",
      "Raffel et al. 2019, section 2.1; mesh_tensorflow's _relative_position_bucket; lib/spec/relative_bias.hpp",
      "relative_bias of subjects that answer `bucket`",
      "none: a bucket is an integer, and a border never falls on one by rounding: the oracle decides each by an "
      "enclosure of the logarithm",
      "borders off by one, a clamp left out, directions exchanged or shared, a number of buckets halved once too "
      "often"};
  property.fields = [](const Spec&) { return std::vector<std::string>{"relative", "count"}; };
  property.not_applicable = [](const Spec& spec) -> std::optional<std::string> {
    if (!std::holds_alternative<RelativeBias>(spec.encoding)) return not_stated_for(spec);
    return std::nullopt;
  };
  property.admits = [](const Spec& spec, const Case& values) {
    return values[1] >= 1 && values[1] <= most && values[0] >= -reach(spec) &&
           values[0] <= reach(spec) - (values[1] - 1);
  };
  property.simplest = [](const Spec&) { return Case{0, 1}; };
  property.first_cases = [](const Spec& spec) {
    // Every border there is, on both sides where the call is long enough, and the ends of the claim.
    const std::int64_t around = std::min(reach(spec), std::get<RelativeBias>(spec.encoding).max_distance + 32);
    std::vector<Case> cases{{-around, std::min(2 * around + 1, most)}, {-reach(spec), 1}, {reach(spec), 1}};
    if (2 * around + 1 > most) cases.push_back({around - std::min(around, most - 1), std::min(around + 1, most)});
    return cases;
  };
  property.cases = [](const Spec& spec) {
    return rc::gen::map(rc::gen::pair(gen::position({-reach(spec), reach(spec) + 1}), gen::one_of({1, 3, 16, 64})),
                        [last = reach(spec)](const std::pair<std::int64_t, std::int64_t>& drawn) {
                          return Case{drawn.first, std::min(drawn.second, last - drawn.first + 1)};
                        });
  };
  property.make_check = [](const Spec& spec) -> Check {
    return [spec, encoding = std::get<RelativeBias>(spec.encoding)](Session& session, const Case& values) {
      const std::vector<std::int64_t> distances = gen::consecutive(values[0], values[1]);
      const std::vector<std::int64_t> buckets = bucket(session, spec, distances);
      Judgement judgement;
      for (std::size_t i = 0; i < distances.size(); ++i) {
        const std::int64_t expected = reference::bucket(encoding, distances[i]);
        judgement.add_exact(buckets[i] == expected
                                ? std::nullopt
                                : std::optional(fmt::format("key - query = {}: bucket {}, should be {}", distances[i],
                                                            buckets[i], expected)),
                            [] { return "every bucket as stated"; });
      }
      return judgement;
    };
  };
  return property;
}

}  // namespace sextant
