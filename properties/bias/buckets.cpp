#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/draw.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/bucket_arithmetic.hpp"
#include "properties/model/family.hpp"
#include "reference/relative_bias.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// Distances of a call: `count` of them, one by one.
struct Distances {
  std::int64_t relative;
  std::int64_t count;
};
constexpr std::int64_t most_distances = 4096;

// How far a key and a query of the claim can be apart.
std::int64_t reach(const Spec& spec) { return spec.max_position - spec.min_position - 1; }

CasesOf<Distances> distances_of_the_claim() {
  CasesOf<Distances> cases;
  cases.fields = [](const Spec& spec) -> std::vector<FieldOf<Distances>> {
    return {{"relative", FieldRole::number, &Distances::relative, {-reach(spec), reach(spec)}},
            {"count", FieldRole::count, &Distances::count, {1, most_distances}}};
  };
  cases.related = [](const Spec& spec, const Distances& asked) {
    return asked.relative <= reach(spec) - (asked.count - 1);
  };
  cases.first = of<RelativeBias>([](const Spec& spec, const RelativeBias& encoding) {
    // Every border there is, on both sides where the call is long enough, and the ends of the claim.
    const std::int64_t around = std::min(reach(spec), encoding.max_distance + 32);
    std::vector<Distances> list{{.relative = -around, .count = std::min(2 * around + 1, most_distances)},
                                {.relative = -reach(spec), .count = 1},
                                {.relative = reach(spec), .count = 1}};
    if (2 * around + 1 > most_distances)
      list.push_back(
          {.relative = around - std::min(around, most_distances - 1), .count = std::min(around + 1, most_distances)});
    return list;
  });
  cases.drawn = [](const Spec& spec) {
    return gen::map(gen::pair(gen::position({-reach(spec), reach(spec) + 1}), gen::one_of({1, 3, 16, 64})),
                    [last = reach(spec)](const std::pair<std::int64_t, std::int64_t>& drawn) {
                      return Distances{.relative = drawn.first,
                                       .count = std::min(drawn.second, last - drawn.first + 1)};
                    });
  };
  return cases;
}

CheckOf<Distances> buckets_check(const Spec& spec, const RelativeBias& encoding) {
  return [spec, encoding, arithmetic = bucket_arithmetic_of(spec)](Session& session, const Distances& asked) {
    const std::vector<std::int64_t> distances = gen::consecutive(asked.relative, asked.count);
    const std::vector<std::int64_t> buckets = bucket(session, spec, distances);
    Judgement judgement;
    for (std::size_t i = 0; i < distances.size(); ++i) {
      const std::int64_t expected = reference::bucket(encoding, distances[i]);
      judgement.place = spec.min_position + std::abs(distances[i]);
      const auto is_beside = [&] {
        return reference::bucket_beside(encoding, distances[i], arithmetic) == std::optional(buckets[i]);
      };
      judgement.add_exact(buckets[i] == expected || is_beside()
                              ? std::nullopt
                              : std::optional(fmt::format("key - query = {}: bucket {}, should be {}", distances[i],
                                                          buckets[i], expected)),
                          [] { return "every bucket as stated"; });
    }
    return judgement;
  };
}

}  // namespace

Property bucket_property() {
  Property property;
  property.id = "bucket";
  property.needs = Needs::live_subject;
  property.explanation = {
      "each distance falls into its bucket",
      "n < E: n; else min(B - 1, E + floor(ln(n/E) / ln(max_distance/E) (B - E))); B more for keys after the query "
      "where bidirectional. By the other rules, with S = num_buckets/2 and M = S/2, min(S + e, 2S - 1) for keys n "
      "before the query and S - e for those behind it: log: e = n up to M, then M + ceil(ln(n/M) / ln((max_distance - "
      "1)/M) (M - 1)), and S from max_distance on; clipped: e = min(n, S)",
      "Raffel et al. 2019, section 2.1; mesh_tensorflow's _relative_position_bucket; transformers' "
      "make_log_bucket_position of DeBERTa-v2; Shaw et al. 2018, section 3.2; lib/spec/relative_bias.hpp",
      "relative_bias of subjects that answer `bucket`",
      "none, but at a distance so near a border that the formula's roundings in the class's arithmetic reach over it, "
      "either bucket; where the border is met exactly, also the one that the released formula gives in that arithmetic "
      "(docs/proofs/accuracy-classes.md, step 28). The oracle decides each by an enclosure of the logarithm",
      "borders off by one, a clamp left out, directions exchanged or shared, a number of buckets halved once too "
      "often"};
  property.not_applicable = stated_for<RelativeBias>();
  use_cases(property, distances_of_the_claim(), of<RelativeBias>(buckets_check));
  return property;
}

}  // namespace sextant
