#include <fmt/format.h>

#include "properties/catalogue.hpp"
#include "properties/engine/typed_cases.hpp"
#include "properties/gen/position.hpp"
#include "properties/model/family.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

struct Place {
  std::int64_t position;
};

// The furthest position that is compared lies half of the longest period on.
std::int64_t longest_half(const Tent& tent) { return std::int64_t{1} << (tent.dim - 1); }

CasesOf<Place> places() {
  CasesOf<Place> cases;
  const auto range = of<Tent>([](const Spec& spec, const Tent& tent) { return claimed(spec, longest_half(tent)); });
  cases.fields = [range](const Spec& spec) -> std::vector<FieldOf<Place>> {
    return {{"position", FieldRole::position, &Place::position, range(spec)}};
  };
  cases.first = [range](const Spec& spec) -> std::vector<Place> { return {{range(spec).least}, {range(spec).most}}; };
  cases.drawn = [range](const Spec& spec) {
    return rc::gen::map(gen::position({range(spec).least, range(spec).most + 1}),
                        [](std::int64_t position) { return Place{position}; });
  };
  return cases;
}

CheckOf<Place> check(const Spec& spec, const Tent& tent) {
  return [spec, tent](Session& session, const Place& place) {
    Judgement judgement;
    for (std::int64_t i = 0; i < tent.dim; ++i) {
      const std::vector<std::int64_t> positions{place.position, place.position + (std::int64_t{1} << i)};
      const Tensor rows = encode(session, spec, positions);
      const double sum = rows.at(i) + rows.at(tent.dim + i);
      judgement.add_exact(sum == 1 ? std::nullopt
                                   : std::optional(fmt::format("position {}, channel {}: the two add up to {}",
                                                               place.position, i, sum)),
                          [] { return "1 in every channel"; });
    }
    return judgement;
  };
}

}  // namespace

Property mirror_property() {
  Property property;
  property.id = "mirror";
  property.explanation = {"half a period on, a triangle wave is what is missing to 1",
                          "t_i(p) + t_i(p + 2^i) = 1",
                          "lib/spec/tent.hpp",
                          "tent",
                          "none: both are multiples of 2^-7 up to 1, whose sum every dtype holds",
                          "a saw tooth for a tent, a period that is not twice the half"};
  property.not_applicable = stated_for<Tent>([](const Spec& spec, const Tent& tent) -> std::optional<std::string> {
    if (spec.max_position - spec.min_position <= longest_half(tent)) return "the claim is shorter than half a period";
    return std::nullopt;
  });
  use_cases(property, places(), of<Tent>(check));
  return property;
}

}  // namespace sextant
