#pragma once

#include <rapidcheck.h>

#include <tuple>
#include <type_traits>
#include <utility>

namespace sextant::gen {

// RapidCheck's functions of these names draw the same values. Theirs also make the types that shrink what is drawn, a
// dozen for each function and tuple, a fifth of what the compiler makes of properties/; cases are shrunk by
// gen/shrink.hpp.

/// `made` of what is drawn. It must not change what it captures.
template <class T, class Make>
auto map(rc::Gen<T> drawn, Make made) -> rc::Gen<std::decay_t<std::invoke_result_t<const Make&, T>>> {
  return [drawn = std::move(drawn), made = std::move(made)](const rc::Random& random, int size) {
    return rc::shrinkable::just(made(drawn(random, size).value()));
  };
}

/// One of each, drawn apart.
template <class... T>
rc::Gen<std::tuple<T...>> tuple(rc::Gen<T>... parts) {
  return [parts = std::tuple(std::move(parts)...)](const rc::Random& random, int size) {
    return std::apply(
        [rest = random, size](const auto&... part) mutable {
          // In braces, so that they draw from left to right.
          return rc::shrinkable::just(std::tuple<T...>{part(rest.split(), size).value()...});
        },
        parts);
  };
}
template <class First, class Second>
rc::Gen<std::pair<First, Second>> pair(rc::Gen<First> first, rc::Gen<Second> second) {
  return [first = std::move(first), second = std::move(second)](rc::Random random, int size) {
    const rc::Random of_first = random.split();
    const rc::Random of_second = random.split();
    return rc::shrinkable::just(std::pair(first(of_first, size).value(), second(of_second, size).value()));
  };
}

}  // namespace sextant::gen
