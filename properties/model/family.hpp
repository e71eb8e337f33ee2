#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "lib/spec/of.hpp"

namespace sextant {

// Laws of one encoding, or of a few, are written over that encoding's own type with `of`; what stands here says for
// every other spec that the law does not apply.

/// Why a property says nothing of a spec whose encoding it has no statement for: "not stated for alibi".
std::string not_stated_for(const Spec& spec);

/// Why a property does not apply to a spec; nothing if it does.
using WhyNot = std::function<std::optional<std::string>(const Spec& spec)>;

/// What a law says of an encoding that it is not about, where it can say more than not_stated_for: which other law to
/// see.
struct Elsewhere {
  bool (*concerns)(const Spec& spec) = [](const Spec&) { return false; };
  std::string_view text;
};
template <class EncodingType>
Elsewhere elsewhere_for(std::string_view text) {
  return {is_of<EncodingType>, text};
}

/// Whether a function says why, of a spec or of it and any of the encodings.
template <class Reason, class... Encodings>
concept WhyNotOf = std::is_invocable_v<Reason, const Spec&> ||
    std::conjunction_v<std::is_invocable<Reason, const Spec&, const Encodings&>...>;

/// The not_applicable of a law of the encodings named: for them what `why_not(spec, encoding)` or `why_not(spec)` says,
/// or nothing where that is left out.
template <class... Encodings>
WhyNot stated_for(WhyNotOf<Encodings...> auto why_not, Elsewhere elsewhere = {}) {
  return [why_not = std::move(why_not), elsewhere](const Spec& spec) {
    if (is_of<Encodings...>(spec)) {
      if constexpr (std::is_invocable_v<decltype(why_not), const Spec&>) {
        return why_not(spec);
      } else {
        return of<Encodings...>(why_not)(spec);
      }
    }
    return std::optional(elsewhere.concerns(spec) ? std::string(elsewhere.text) : not_stated_for(spec));
  };
}
template <class... Encodings>
WhyNot stated_for(Elsewhere elsewhere = {}) {
  return stated_for<Encodings...>([](const Spec&, const auto&) { return std::optional<std::string>(); }, elsewhere);
}

/// For laws that compare two positions: "the claim has one position only" where it has.
std::optional<std::string> one_position_only(const Spec& spec);

}  // namespace sextant
