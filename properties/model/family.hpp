#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "lib/spec/spec.hpp"

namespace sextant {

// Laws of one encoding, or of a few, are written over that encoding's own type; what stands here takes it out of the
// spec, and says for every other spec that the law does not apply.

/// Why a property says nothing of a spec whose encoding it has no statement for: "does not apply to alibi".
std::string not_stated_for(const Spec& spec);

/// Why a property does not apply to a spec; nothing if it does.
using WhyNot = std::function<std::optional<std::string>(const Spec& spec)>;

/// What a law says of encodings that it is not about, by their names, where it can say more than not_stated_for: which
/// other law to see.
using Elsewhere = std::map<std::string_view, std::string_view>;

/// `law(spec, encoding, rest...)` for the encodings named, as a function of the spec and the rest. A law of several
/// encodings is a generic function or an overloaded one; all must return the same type. The function
/// @throws std::invalid_argument for a spec of another encoding.
template <class First, class... Others, class Law>
auto of(Law law) {
  return [law = std::move(law)](const Spec& spec, auto&&... rest) {
    using Result = std::invoke_result_t<const Law&, const Spec&, const First&, decltype(rest)...>;
    const auto apply = [&](const auto& encoding) -> Result {
      using Given = std::remove_cvref_t<decltype(encoding)>;
      if constexpr (std::is_same_v<Given, First> || (std::is_same_v<Given, Others> || ...)) {
        return law(spec, encoding, std::forward<decltype(rest)>(rest)...);
      } else {
        throw std::invalid_argument(fmt::format("a law {}", not_stated_for(spec)));
      }
    };
    return std::visit(apply, spec.encoding);
  };
}

/// Whether the spec's encoding is one of those named.
template <class... Encodings>
bool is_of(const Spec& spec) {
  return (std::holds_alternative<Encodings>(spec.encoding) || ...);
}

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

/// The position encoding of attention if it is this one, or null.
template <class PositionEncoding>
const PositionEncoding* carried(const Attention& attention) {
  return attention.position ? std::get_if<PositionEncoding>(&*attention.position) : nullptr;
}

}  // namespace sextant
