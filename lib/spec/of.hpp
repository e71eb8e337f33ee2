#pragma once

#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

#include "lib/spec/spec.hpp"

namespace sextant {

// The one way to ask which encoding a spec holds: what is written over an encoding's own type becomes a function of any
// spec. The test `dispatch` refuses other ways outside of lib/spec, properties/model and the built-in subject.

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
        throw std::invalid_argument("nothing is stated for " + std::string(encoding_name(spec)));
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

/// visitor(encoding) of the encoding that the spec holds, or that attention carries, whichever it is; the same result
/// type for each.
template <class Visitor>
decltype(auto) of_each(const Spec& spec, Visitor&& visitor) {
  return std::visit(std::forward<Visitor>(visitor), spec.encoding);
}
template <class Visitor>
decltype(auto) of_each(const PositionEncoding& encoding, Visitor&& visitor) {
  return std::visit(std::forward<Visitor>(visitor), encoding);
}

/// The spec's encoding if it is this one, or null; the position encoding of attention likewise.
template <class EncodingType>
const EncodingType* held(const Spec& spec) {
  return std::get_if<EncodingType>(&spec.encoding);
}
template <class EncodingType>
EncodingType* held(Spec& spec) {
  return std::get_if<EncodingType>(&spec.encoding);
}
template <class EncodingType>
const EncodingType* carried(const Attention& attention) {
  return attention.position ? std::get_if<EncodingType>(&*attention.position) : nullptr;
}

}  // namespace sextant
