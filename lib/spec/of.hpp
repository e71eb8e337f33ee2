#pragma once

#include <type_traits>
#include <utility>
#include <variant>

#include "lib/spec/spec.hpp"

namespace sextant {

// The one way to ask which encoding a spec holds: what is written over an encoding's own type becomes a function of any
// spec. The test `dispatch` refuses other ways outside of lib/spec, properties/model and the built-in subject.

/// @throws std::invalid_argument, as a function of `of` does for a spec of an encoding that it does not name.
[[noreturn]] void throw_nothing_stated(const Spec& spec);

/// law(encoding) of the one of these encodings that the spec holds. @throws std::invalid_argument for another.
template <class Result, class First, class... Others, class Law>
Result of_held(const Spec& spec, const Law& law) {
  // Not std::visit, which makes a function for every alternative of each law.
  if (const First* encoding = std::get_if<First>(&spec.encoding)) return law(*encoding);
  if constexpr (sizeof...(Others) > 0) {
    return of_held<Result, Others...>(spec, law);
  } else {
    throw_nothing_stated(spec);
  }
}

/// `law(spec, encoding, rest...)` for the encodings named, as a function of the spec and the rest. A law of several
/// encodings is a generic function or an overloaded one; all must return the same type. The function
/// @throws std::invalid_argument for a spec of another encoding.
template <class First, class... Others, class Law>
auto of(Law law) {
  return [law = std::move(law)](const Spec& spec, auto&&... rest) {
    using Result = std::invoke_result_t<const Law&, const Spec&, const First&, decltype(rest)...>;
    return of_held<Result, First, Others...>(spec, [&](const auto& encoding) -> Result {
      return law(spec, encoding, std::forward<decltype(rest)>(rest)...);
    });
  };
}

/// Whether the spec's encoding is one of those named.
template <class... Encodings>
bool is_of(const Spec& spec) {
  return (std::holds_alternative<Encodings>(spec.encoding) || ...);
}

/// Whether two specs hold the same encoding, whatever its fields say.
inline bool are_of_one_encoding(const Spec& one, const Spec& other) {
  return one.encoding.index() == other.encoding.index();
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
