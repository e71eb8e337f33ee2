#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

// Elements of offsets that are kept, looked up many at a time.

namespace sextant {

/// The elements of offsets from -most to most, which `of` gives as bits.
template <class Bits>
class KeptElements {
 public:
  /// Offsets within this are looked up in registers, where a target has lookups in four of them.
  static constexpr std::int64_t most_in_registers = 31;

  KeptElements() = default;

  template <class ElementOf>
  KeptElements(std::int64_t most, ElementOf of) : most_(most), elements_(static_cast<std::size_t>(2 * most + 1)) {
    for (std::int64_t offset = -most; offset <= most; ++offset) {
      const Bits bits = of(offset);
      elements_[static_cast<std::size_t>(offset + most)] = bits;
      if (-most_in_registers <= offset && offset <= most_in_registers)
        modulo_64_[static_cast<std::size_t>(offset & 63)] = bits;
    }
  }

  /// Less than 0 where none are kept.
  std::int64_t most() const { return most_; }
  const Bits* at_zero() const { return elements_.data() + most_; }
  /// Those of most_in_registers, at the offset modulo 64.
  const Bits* modulo_64() const { return modulo_64_.data(); }

 private:
  std::int64_t most_ = -1;
  std::vector<Bits> elements_;
  alignas(64) std::array<Bits, 64> modulo_64_{};
};

/// to[i] becomes the element of offsets[i], |offsets[i]| <= kept.most(). target_in_use (targets.hpp) has been asked
/// before.
void look_up(std::span<const std::int64_t> offsets, const KeptElements<std::uint16_t>& kept, std::uint16_t* to);
void look_up(std::span<const std::int64_t> offsets, const KeptElements<std::uint32_t>& kept, std::uint32_t* to);
void look_up(std::span<const std::int64_t> offsets, const KeptElements<std::uint64_t>& kept, std::uint64_t* to);

/// Row r of `rows` becomes the elements of first[r] and second[r], likewise.
void look_up_pairs(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint16_t>& of_first, const KeptElements<std::uint16_t>& of_second,
                   std::uint16_t* rows);
void look_up_pairs(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint32_t>& of_first, const KeptElements<std::uint32_t>& of_second,
                   std::uint32_t* rows);
void look_up_pairs(std::span<const std::int64_t> first, const std::int64_t* second,
                   const KeptElements<std::uint64_t>& of_first, const KeptElements<std::uint64_t>& of_second,
                   std::uint64_t* rows);

/// Row r of `rows` becomes columns[0][r], columns[1][r], ...: `count` elements of each column, whose next one begins
/// `stride` further on.
void put_columns_side_by_side(const std::uint16_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                              std::uint16_t* rows);
void put_columns_side_by_side(const std::uint32_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                              std::uint32_t* rows);
void put_columns_side_by_side(const std::uint64_t* columns, std::size_t stride, std::size_t width, std::size_t count,
                              std::uint64_t* rows);

}  // namespace sextant
