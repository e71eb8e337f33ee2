#include "properties/model/siblings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "properties/model/fractions.hpp"

namespace sextant {

std::vector<Variant> siblings_of(const Spec& spec) {
  std::vector<Variant> siblings = model_of(spec)->siblings();
  std::ranges::move(variants_by_fraction(spec), std::back_inserter(siblings));
  const auto add = [&](std::string field, auto change) {
    Spec changed = spec;
    change(changed);
    try {
      validate(changed);
      siblings.push_back({std::move(field), std::move(changed)});
    } catch (const SpecError&) {
      // No such spec.
    }
  };
  for (const Dtype dtype : {Dtype::bfloat16, Dtype::float16, Dtype::float32, Dtype::float64}) {
    if (dtype != spec.dtype)
      add(fmt::format("dtype ({})", name_of(dtype)), [dtype](Spec& changed) { changed.dtype = dtype; });
  }
  // Right answers to these are those of the spec, so they come last: what is kept of others is not kept of them.
  add("max_position", [](Spec& changed) { changed.max_position *= 2; });
  add("max_position", [](Spec& changed) { changed.max_position -= (changed.max_position - changed.min_position) / 2; });
  return siblings;
}

}  // namespace sextant
