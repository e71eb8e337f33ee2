#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

namespace sextant {

/// Memory for `count` elements, at a multiple of a line. Nothing fills it: pages of it are first touched by the threads
/// that write there, and vectors of it lie within lines. Element is a number.
template <class Element>
class Unfilled {
 public:
  Unfilled() = default;
  explicit Unfilled(std::int64_t count)
      : elements_(static_cast<Element*>(::operator new(static_cast<std::size_t>(count) * sizeof(Element), line))) {}

  Element* data() const { return elements_.get(); }

 private:
  static constexpr std::align_val_t line{64};
  struct Release {
    void operator()(Element* elements) const { ::operator delete(elements, line); }
  };
  std::unique_ptr<Element, Release> elements_;
};

}  // namespace sextant
