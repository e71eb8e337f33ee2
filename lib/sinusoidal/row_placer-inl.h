// Where the rows of a tile of pairs go, for one Highway target.
//
//   1. A row whose vectors end where the tile does is stored straight into the table, past the caches where all its
//      lines are whole and aligned.
//   2. Any other goes through a RowWriter: one for the whole row, or one for each half of a concatenated row that has
//      several tiles.
//
// Nothing is computed here: there is nothing to prove.

#if defined(SEXTANT_LIB_SINUSOIDAL_ROW_PLACER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SEXTANT_LIB_SINUSOIDAL_ROW_PLACER_INL_H_
#undef SEXTANT_LIB_SINUSOIDAL_ROW_PLACER_INL_H_
#else
#define SEXTANT_LIB_SINUSOIDAL_ROW_PLACER_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>

#include "lib/sinusoidal/row_writer-inl.h"

HWY_BEFORE_NAMESPACE();
namespace sextant::HWY_NAMESPACE {

/// The pairs [first, first + count) of the plan; `padded` lanes are computed.
struct Tile {
  std::size_t first;
  std::size_t count;
  std::size_t padded;
};

/// Where a row of a tile goes: the two halves, and which of them lies earlier in memory, or for pairs side by side
/// where they begin, twice.
template <class Type>
struct RowPlace {
  typename Type::Element* sin;
  typename Type::Element* cos;
  Component earlier;
};

/// Finds each row of a tile its place, in the table itself or by way of a RowWriter.
template <class Type>
class RowPlacer {
 public:
  using Element = typename Type::Element;

  RowPlacer(const SinusoidalPlan& plan, const Tile& tile, const Strip& strip)
      : caching_(HWY_TARGET == HWY_SCALAR ? Caching::kept : strip.caching),  // its streaming stores are ordinary ones
        earlier_(caching_),
        later_(caching_),
        plan_(plan),
        tile_(tile),
        strip_(strip) {
    const bool full_vectors = tile.padded == tile.count;
    const auto whole_lines = [](std::size_t elements) { return elements * sizeof(Element) % cache_line == 0; };
    const bool aligned = reinterpret_cast<std::uintptr_t>(strip.out.data) % cache_line == 0 &&
                         whole_lines(static_cast<std::size_t>(strip.out.row_stride));
    const bool streams = Interleaved() ? streams_pairs<Type, Doubles>
                                       : streams_elements<Type, Doubles> && whole_lines(plan.frequencies.pairs());
    direct_ = full_vectors && (caching_ == Caching::kept || (streams && aligned));
  }

  /// How the kernel stores a row that it is given a place for.
  Caching Stores() const { return direct_ ? caching_ : Caching::kept; }

  /// Whether places are in the table itself: then that of each row lies Stride() elements after that of the one before.
  bool Direct() const { return direct_; }
  std::size_t Stride() const { return static_cast<std::size_t>(strip_.out.row_stride); }

  RowPlace<Type> Place(std::int64_t row) {
    const auto stride = static_cast<std::size_t>(strip_.out.row_stride);
    auto* start = reinterpret_cast<Element*>(strip_.out.data) + static_cast<std::size_t>(row) * stride;
    if (Interleaved()) {
      Element* pairs = start + 2 * tile_.first;
      if (direct_) return {pairs, pairs, Component::sin};
      Element* put = Through(earlier_, pairs, 2 * tile_.count);
      return {put, put, Component::sin};
    }
    Element* earlier = start + tile_.first;
    Element* later = start + plan_.frequencies.pairs() + tile_.first;
    if (!direct_) {
      if (tile_.count == plan_.frequencies.pairs()) {
        earlier = Through(earlier_, earlier, 2 * tile_.count);
        later = earlier + tile_.count;
      } else {
        earlier = Through(earlier_, earlier, tile_.count);
        later = Through(later_, later, tile_.count);
      }
    }
    const bool sin_first = plan_.encoding.first == First::sin;
    return {sin_first ? earlier : later, sin_first ? later : earlier, sin_first ? Component::sin : Component::cos};
  }

  void Advance() {
    if (direct_) return;
    earlier_.Advance();
    later_.Advance();
  }

  void Finish() {
    if (direct_) return;
    earlier_.Finish();
    later_.Finish();
  }

 private:
  bool Interleaved() const { return plan_.encoding.layout == Layout::interleaved; }

  static Element* Through(RowWriter& writer, Element* destination, std::size_t elements) {
    return reinterpret_cast<Element*>(
        writer.Row(reinterpret_cast<std::byte*>(destination), elements * sizeof(Element)));
  }

  Caching caching_;
  RowWriter earlier_;
  RowWriter later_;
  const SinusoidalPlan& plan_;
  const Tile& tile_;
  const Strip& strip_;
  bool direct_ = false;
};

}  // namespace sextant::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
