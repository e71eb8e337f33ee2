#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lib/spec/of.hpp"

namespace sextant {

// Laws of one encoding, or of a few, are written over that encoding's own type with `of`; what stands here says for
// every other spec that the law does not apply.

/// Why a property says nothing of a spec whose encoding it has no statement for: "does not apply to alibi".
std::string not_stated_for(const Spec& spec);

/// Why a property does not apply to a spec; nothing if it does.
using WhyNot = std::function<std::optional<std::string>(const Spec& spec)>;

/// What a law says of encodings that it is not about, by their names, where it can say more than not_stated_for: which
/// other law to see.
using Elsewhere = std::map<std::string_view, std::string_view>;

/// The not_applicable of a law of the encodings named: for them what `why_not(spec, encoding)` or `why_not(spec)` says,
/// or nothing where that is left out.
template <class... Encodings, class Reason>
WhyNot stated_for(Reason why_not, Elsewhere elsewhere = {}) {
  return [why_not = std::move(why_not), elsewhere = std::move(elsewhere)](const Spec& spec) {
    if (is_of<Encodings...>(spec)) {
      if constexpr (std::is_invocable_v<Reason, const Spec&>) {
        return why_not(spec);
      } else {
        return of<Encodings...>(why_not)(spec);
      }
    }
    const auto text = elsewhere.find(encoding_name(spec));
    return std::optional(text == elsewhere.end() ? not_stated_for(spec) : std::string(text->second));
  };
}
template <class... Encodings>
WhyNot stated_for(Elsewhere elsewhere = {}) {
  return stated_for<Encodings...>([](const Spec&, const auto&) { return std::optional<std::string>(); },
                                  std::move(elsewhere));
}

/// For laws that compare two positions: "the claim has one position only" where it has.
std::optional<std::string> one_position_only(const Spec& spec);

}  // namespace sextant
