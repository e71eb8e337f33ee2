// Over 400 lines: a list of readings of grids, each a few lines, and the calls about them.
#include "properties/identify/rotations/other_grids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "lib/spec/of.hpp"
#include "properties/gen/placement.hpp"
#include "properties/identify/rotations/other_lengths.hpp"

namespace sextant::identify {
namespace {

// The coordinates of a batch row, an axis each.
using RowPlaces = std::vector<std::vector<std::int64_t>>;

RowPlaces row_places(const VectorInCall& vector, std::int64_t batch) {
  RowPlaces places(static_cast<std::size_t>(vector.axes));
  for (std::int64_t axis = 0; axis < vector.axes; ++axis) {
    for (std::int64_t token = 0; token < vector.tokens; ++token)
      places[static_cast<std::size_t>(axis)].push_back(vector.coordinate(axis, batch, token));
  }
  return places;
}

struct ImageSides {
  std::int64_t rows;
  std::int64_t columns;
};

// What the last two axes span from the first token on.
ImageSides sides_of(const RowPlaces& places) {
  const auto& rows = places[places.size() - 2];
  const auto& columns = places.back();
  return {std::ranges::max(rows) - rows.front() + 1, std::ranges::max(columns) - columns.front() + 1};
}

// Which rows are taken for images: those of any sides or of more than one row and column; wherever they begin or at 0.
struct ImageKind {
  std::string_view words;
  std::int64_t least_side;
  bool (*begins)(std::int64_t coordinate);
};
constexpr ImageKind image_kinds[] = {
    {"", 1, [](std::int64_t) { return true; }},
    {" (of more than one row and column)", 2, [](std::int64_t) { return true; }},
    {" (one that begins at 0)", 1, [](std::int64_t coordinate) { return coordinate == 0; }},
    {" (one that begins at 0, of more than one row and column)", 2,
     [](std::int64_t coordinate) { return coordinate == 0; }}};

// Whether the last two axes are an image's, whose cell of a token's number is the one that `cell_of` says; the axes
// before them stay.
bool is_image_of(const RowPlaces& places, const ImageKind& kind, auto cell_of) {
  const auto [rows, columns] = sides_of(places);
  const auto tokens = std::ssize(places.back());
  if (rows * columns != tokens || std::min(rows, columns) < kind.least_side) return false;
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    if (!kind.begins(places[axis].front())) return false;
    const bool is_row = axis + 2 == places.size();
    const bool is_column = axis + 1 == places.size();
    for (std::int64_t token = 0; token < tokens; ++token) {
      const std::int64_t cell = cell_of(token);
      const std::int64_t moved = is_row ? cell / columns : is_column ? cell % columns : 0;
      if (places[axis][static_cast<std::size_t>(token)] != places[axis].front() + moved) return false;
    }
  }
  return true;
}

// Row after row.
bool is_raster(const RowPlaces& places, const ImageKind& kind) {
  return is_image_of(places, kind, [](std::int64_t token) { return token; });
}

// In blocks of 2 x 2, row after row of them and within each.
bool is_in_blocks(const RowPlaces& places, const ImageKind& kind) {
  const auto [rows, columns] = sides_of(places);
  if (rows % 2 != 0 || columns % 2 != 0) return false;
  return is_image_of(places, kind, [across = columns / 2](std::int64_t token) {
    const std::int64_t block = token / 4;
    return (block / across * 2 + token % 4 / 2) * 2 * across + block % across * 2 + token % 2;
  });
}

// Row after row from where the image begins.
void make_raster(RowPlaces& places) {
  const auto columns = sides_of(places).columns;
  const std::int64_t row = places[places.size() - 2].front();
  const std::int64_t column = places.back().front();
  for (std::int64_t token = 0; token < std::ssize(places.back()); ++token) {
    places[places.size() - 2][static_cast<std::size_t>(token)] = row + token / columns;
    places.back()[static_cast<std::size_t>(token)] = column + token % columns;
  }
}

void move_to(RowPlaces& places, const RowPlaces& of) {
  for (std::size_t axis = 0; axis < places.size(); ++axis) {
    const std::int64_t start = places[axis].front() - of[axis].front();
    for (std::size_t token = 0; token < places[axis].size(); ++token) places[axis][token] = start + of[axis][token];
  }
}

bool has_shape_of(const RowPlaces& places, const RowPlaces& other) {
  RowPlaces moved = places;
  move_to(moved, other);
  return moved == places;
}

// From the first token that has the place of the row's first again, where those before it are an image.
void continue_below(RowPlaces& places, const ImageKind& kind) {
  const std::size_t tokens = places.back().size();
  for (std::size_t token = 1; token < tokens; ++token) {
    if (!std::ranges::all_of(places, [&](const auto& axis) { return axis[token] == axis.front(); })) continue;
    RowPlaces first = places;
    for (auto& axis : first) axis.resize(token);
    if (!is_raster(first, kind)) return;
    for (std::size_t later = token; later < tokens; ++later) places[places.size() - 2][later] += sides_of(first).rows;
    return;
  }
}

void halve_steps_of_time(RowPlaces& places) {
  std::vector<std::int64_t>& time = places.front();
  const std::int64_t start = time.front();
  if (!std::ranges::is_sorted(time) || time.back() == start ||
      !std::ranges::all_of(time, [&](std::int64_t t) { return (t - start) % 2 == 0; }))
    return;
  for (std::int64_t& t : time) t = start + (t - start) / 2;
}

// The first of the tokens that end a row as a text does, all of whose coordinates are one number, behind one that is no
// text's; the number of tokens where there are none.
std::size_t text_behind_image(const RowPlaces& places) {
  const auto is_text = [&](std::size_t token) {
    return std::ranges::all_of(places, [&](const auto& axis) { return axis[token] == places.front()[token]; });
  };
  const std::size_t tokens = places.back().size();
  std::size_t first = tokens;
  while (first > 0 && is_text(first - 1)) --first;
  return first == 0 ? tokens : first;
}

class OtherGrids {
 public:
  explicit OtherGrids(const Spec& claim) : claim_(claim), axes_(axes_of(claim.encoding)) {}

  std::vector<VectorReading> made() && {
    add_axes();
    add_crops();
    add_extents();
    if (axes_ == 2) add_strides();
    add_portraits();
    add_texts();
    add_pairings();
    add_rows();
    return std::move(list_);
  }

 private:
  using Change = std::function<void(RowPlaces& places, const VectorInCall& vector)>;

  void add(std::string words, Change change) {
    list_.push_back({std::move(words), DiagnosedStage::position,
                     [claim = claim_, change = std::move(change)](const VectorInCall& vector) {
                       TakenVector taken = as_claimed(claim, vector);
                       RowPlaces places = row_places(vector, vector.batch);
                       change(places, vector);
                       for (std::size_t axis = 0; axis < places.size(); ++axis)
                         taken.place[axis] = places[axis][static_cast<std::size_t>(vector.token)];
                       return std::optional(std::move(taken));
                     }});
  }

  // An axis that has another one's positions in some calls or rows.
  void add_axes() {
    struct Where {
      std::string_view words;
      bool (*holds)(const VectorInCall& vector);
    };
    constexpr Where wheres[] = {
        {"in calls of one token ", [](const VectorInCall& at) { return at.tokens == 1; }},
        {"in calls of one token and several rows ",
         [](const VectorInCall& at) { return at.tokens == 1 && at.batches > 1; }},
        {"in rows of a batch after the first ", [](const VectorInCall& at) { return at.batch > 0; }},
        {"in calls of several rows ", [](const VectorInCall& at) { return at.batches > 1; }},
        {"in heads after the first ", [](const VectorInCall& at) { return at.head > 0; }},
    };
    for (const Where& where : wheres) {
      for (std::int64_t to = 0; to < axes_; ++to) {
        for (std::int64_t from = 0; from < axes_; ++from) {
          if (from == to) continue;
          add(fmt::format("{}axis {} has the positions of axis {}", where.words, to, from),
              [=](RowPlaces& places, const VectorInCall& vector) {
                if (where.holds(vector)) places[static_cast<std::size_t>(to)] = places[static_cast<std::size_t>(from)];
              });
        }
      }
      add(fmt::format("{}all axes have the positions of the first", where.words),
          [=](RowPlaces& places, const VectorInCall& vector) {
            if (where.holds(vector)) std::ranges::fill(places, std::vector<std::int64_t>(places.front()));
          });
    }
  }

  // Crops that are counted from their own corner.
  void add_crops() {
    add("positions of axes after the first are counted from the row's first token, which has its position of axis 0 "
        "there",
        [](RowPlaces& places, const VectorInCall&) {
          for (std::size_t axis = 1; axis < places.size(); ++axis) {
            const std::int64_t from = places[0].front() - places[axis].front();
            for (std::int64_t& position : places[axis]) position += from;
          }
        });
    for (std::int64_t axis = -1; axis < axes_; ++axis) {
      const std::string whose = axis < 0 ? "each axis" : fmt::format("axis {}", axis);
      const auto is_of = [axis](std::size_t one) { return axis < 0 || static_cast<std::size_t>(axis) == one; };
      add(fmt::format("positions of {} are counted from a row's least: every crop is turned as one that begins at 0",
                      whose),
          [is_of](RowPlaces& places, const VectorInCall&) {
            for (std::size_t one = 0; one < places.size(); ++one) {
              if (!is_of(one)) continue;
              const std::int64_t least = std::ranges::min(places[one]);
              for (std::int64_t& position : places[one]) position -= least;
            }
          });
      add(fmt::format("positions of {} are counted from the call's least: every crop is turned as one that begins at "
                      "0",
                      whose),
          [is_of](RowPlaces& places, const VectorInCall& at) {
            for (std::size_t one = 0; one < places.size(); ++one) {
              if (!is_of(one)) continue;
              std::int64_t least = places[one].front();
              for (std::int64_t batch = 0; batch < at.batches; ++batch)
                least = std::min(least, std::ranges::min(row_places(at, batch)[one]));
              for (std::int64_t& position : places[one]) position -= least;
            }
          });
    }
  }

  // Coordinates that are divided by what was asked, not by what the claim has.
  void add_extents() {
    const auto* nd = held<RopeNd>(claim_);
    if (nd == nullptr || nd->extents.empty()) return;
    enum class Whose { row, call };
    for (const auto& [whose, words] :
         {std::pair(Whose::call, "extents are those of a call's own greatest positions, not the claim's"),
          std::pair(Whose::row, "extents are those of a row's own greatest positions, not the claim's")}) {
      list_.push_back({words, DiagnosedStage::position, [claim = claim_, whose = whose](const VectorInCall& vector) {
                         TakenVector taken = as_claimed(claim, vector);
                         std::vector<std::int64_t>& extents = held<RopeNd>(taken.spec)->extents;
                         std::ranges::fill(extents, 1);
                         for (std::int64_t batch = 0; batch < vector.batches; ++batch) {
                           if (whose == Whose::row && batch != vector.batch) continue;
                           const RowPlaces places = row_places(vector, batch);
                           for (std::size_t axis = 0; axis < extents.size(); ++axis)
                             extents[axis] = std::max(extents[axis], std::ranges::max(places[axis]) + 1);
                         }
                         taken.spec.max_position = std::ranges::max(extents);
                         return std::optional(std::move(taken));
                       }});
    }
  }

  // A number of a cell, row after row, that is parted by another side than the one it is made with.
  void add_strides() {
    const auto by_sides =
        [&](std::string words,
            std::function<void(std::int64_t & row, std::int64_t & column, const ImageSides& sides)> change) {
          add(std::move(words), [change = std::move(change)](RowPlaces& places, const VectorInCall& at) {
            ImageSides sides{1, 1};
            for (std::int64_t batch = 0; batch < at.batches; ++batch) {
              const RowPlaces of = row_places(at, batch);
              sides = {std::max(sides.rows, std::ranges::max(of[0]) + 1),
                       std::max(sides.columns, std::ranges::max(of[1]) + 1)};
            }
            for (std::size_t token = 0; token < places[0].size(); ++token)
              change(places[0][token], places[1][token], sides);
          });
        };
    by_sides("a cell's number, made with the call's greatest column, is divided by its greatest row",
             [](std::int64_t& row, std::int64_t& column, const ImageSides& sides) {
               const std::int64_t number = row * sides.columns + column;
               row = number / sides.rows;
               column = number % sides.rows;
             });
    by_sides("a cell's number, made with the call's greatest row, is divided by its greatest column",
             [](std::int64_t& row, std::int64_t& column, const ImageSides& sides) {
               const std::int64_t number = row * sides.rows + column;
               row = number / sides.columns;
               column = number % sides.columns;
             });
  }

  // By the greatest positions, whatever kind of call it is.
  void add_portraits() {
    struct Where {
      std::string_view words;
      bool (*holds)(std::int64_t batch);
    };
    constexpr Where wheres[] = {{"", [](std::int64_t) { return true; }},
                                {"in batch row 0 alone ", [](std::int64_t batch) { return batch == 0; }},
                                {"in batch rows after the first ", [](std::int64_t batch) { return batch > 0; }}};
    for (const Where& where : wheres)
      add(fmt::format("{}the last two axes change places where the greatest position of the first of them is the "
                      "greater",
                      where.words),
          [holds = where.holds](RowPlaces& places, const VectorInCall& at) {
            auto& rows = places[places.size() - 2];
            auto& columns = places.back();
            if (holds(at.batch) && std::ranges::max(rows) > std::ranges::max(columns)) std::swap(rows, columns);
          });
  }

  // Of pairs within each axis, one axis' that stand otherwise than the others'. Its channels are read, and written, in
  // the claim's places.
  void add_pairings() {
    const auto* nd = held<RopeNd>(claim_);
    if (nd == nullptr || nd->rope.rotary_dim != nd->rope.head_dim || nd->section_order != SectionOrder::blocked) return;
    const bool are_halves = nd->rope.parts > 1;
    const auto is_interleaved = [](Pairing pairing) { return pairing == Pairing::interleaved; };
    if (!are_halves && (!is_interleaved(nd->rope.pairing) || !is_interleaved(nd->rope.output_pairing))) return;
    std::int64_t first = 0;
    for (const std::int64_t axis : order_of_axes(*nd)) {
      const std::int64_t count = nd->sections[static_cast<std::size_t>(axis)];
      list_.push_back({fmt::format("the pairs of axis {} are channels {}, where the claim, and the other axes, have {}",
                                   axis, are_halves ? "side by side" : "half the axis apart",
                                   are_halves ? "half the axis apart" : "side by side"),
                       DiagnosedStage::rotation,
                       [claim = claim_, first, count, are_halves](const VectorInCall& vector) {
                         TakenVector taken = as_claimed(claim, vector);
                         const std::vector<double> x = vector.values(vector.number());
                         taken.given = x;
                         for (std::int64_t channel = 0; channel < std::ssize(x); ++channel)
                           taken.written.push_back(channel);
                         for (std::int64_t i = 0; i < 2 * count; ++i) {
                           // Member m of pair p stands at p + m count in halves, at 2p + m side by side.
                           const std::int64_t in_halves = i / 2 + i % 2 * count;
                           const std::int64_t own = first + (are_halves ? in_halves : i);
                           const std::int64_t other = first + (are_halves ? i : in_halves);
                           taken.given[static_cast<std::size_t>(own)] = x[static_cast<std::size_t>(other)];
                           taken.written[static_cast<std::size_t>(own)] = other;
                         }
                         return std::optional(std::move(taken));
                       }});
      first += 2 * count;
    }
  }

  // Where a text that comes behind an image is counted from: its tokens, or the image's sides.
  void add_texts() {
    using First = std::int64_t (*)(const RowPlaces& places, std::size_t first);
    const auto counted_from = [&](std::string_view words, First start) {
      add(fmt::format("a text behind an image {}", words), [start](RowPlaces& places, const VectorInCall&) {
        const std::size_t first = text_behind_image(places);
        if (first == places.back().size()) return;
        const std::int64_t from = start(places, first);
        for (auto& axis : places) {
          for (std::size_t token = first; token < axis.size(); ++token)
            axis[token] = from + static_cast<std::int64_t>(token - first);
        }
      });
    };
    counted_from("has its tokens' numbers in the row for positions",
                 [](const RowPlaces&, std::size_t first) { return static_cast<std::int64_t>(first); });
    counted_from("is counted one by one from 0", [](const RowPlaces&, std::size_t) { return std::int64_t{0}; });
    counted_from("is counted one by one from the row's first position",
                 [](const RowPlaces& places, std::size_t) { return places.front().front(); });
    counted_from("is counted from the row's first position on, a place for each of the row's tokens",
                 [](const RowPlaces& places, std::size_t first) {
                   return places.front().front() + static_cast<std::int64_t>(first);
                 });
    counted_from("goes on one by one from its own first position",
                 [](const RowPlaces& places, std::size_t first) { return places.front()[first]; });
    counted_from("goes on behind the image's last token, from the greatest of its coordinates",
                 [](const RowPlaces& places, std::size_t first) {
                   std::int64_t greatest = 0;
                   for (const auto& axis : places) greatest = std::max(greatest, axis[first - 1]);
                   return greatest + 1;
                 });
    counted_from("goes on behind the first coordinate of the image's last token",
                 [](const RowPlaces& places, std::size_t first) { return places.front()[first - 1] + 1; });
  }

  // An index that runs over two axes in place of the second one's coordinate.
  void add_flattened() {
    constexpr std::int64_t most = 64;
    std::vector<std::int64_t> sizes;
    for (std::int64_t to = 0; to < axes_; ++to) {
      for (std::int64_t from = 0; from < axes_; ++from) {
        if (from == to) continue;
        list_.push_back({fmt::format("axis {} has the sum of its own position and axis {}'s", to, from),
                         DiagnosedStage::position,
                         [claim = claim_, to, from](const VectorInCall& vector) -> std::optional<TakenVector> {
                           TakenVector taken = as_claimed(claim, vector);
                           std::int64_t& position = taken.place[static_cast<std::size_t>(to)];
                           position += vector.coordinate(from, vector.batch, vector.token);
                           if (position >= claim.max_position) return std::nullopt;
                           return taken;
                         }});
      }
    }
    for (std::int64_t size = 2; size <= most; ++size) sizes.push_back(size);
    sizes.insert(sizes.end(), {96, 128, 256, 512, 1024});
    for (const std::int64_t size : sizes) {
      for (std::int64_t to = 0; to < axes_; ++to) {
        for (std::int64_t from = 0; from < axes_; ++from) {
          if (from == to) continue;
          list_.push_back(
              {fmt::format("axis {} has a flattened index for its position: {} times that of axis {} is added", to,
                           size, from),
               DiagnosedStage::position,
               [claim = claim_, size, to, from](const VectorInCall& vector) -> std::optional<TakenVector> {
                 TakenVector taken = as_claimed(claim, vector);
                 std::int64_t& position = taken.place[static_cast<std::size_t>(to)];
                 position += size * taken.place[static_cast<std::size_t>(from)];
                 if (position >= claim.max_position) return std::nullopt;
                 return taken;
               }});
        }
      }
    }
  }

  void add_last_tokens() {
    // An image's row or column, whose first coordinate stays.
    for (std::int64_t axis = 1; axis < axes_; ++axis) {
      const auto is_image = [axis](const RowPlaces& places) {
        const auto& own = places[static_cast<std::size_t>(axis)];
        return places.front().front() == places.front().back() && own.front() != own.back() && places.front() != own;
      };
      const auto step_back = [axis](RowPlaces& places) {
        auto& last = places[static_cast<std::size_t>(axis)].back();
        last = std::max<std::int64_t>(last - 1, 0);
      };
      const std::string words = fmt::format(
          "the last token of an image (of one first coordinate, and of several on axis {}) has one less on axis {}",
          axis, axis);
      add(words, [=](RowPlaces& places, const VectorInCall&) {
        if (is_image(places)) step_back(places);
      });
      add(words + ", where all rows of the batch are alike", [=](RowPlaces& places, const VectorInCall& at) {
        for (std::int64_t batch = 0; batch < at.batches; ++batch) {
          if (row_places(at, batch) != places) return;
        }
        if (is_image(places)) step_back(places);
      });
    }
    add("a token at 0 behind an image that begins at 1 is taken for one of the row below it",
        [](RowPlaces& places, const VectorInCall&) {
          const std::size_t last = places.back().size() - 1;
          const bool is_behind = last >= 2 && std::ranges::all_of(places, [last](const auto& axis) {
                                   return axis[last] == 0 && axis.front() == 1;
                                 });
          auto& rows = places[places.size() - 2];
          if (is_behind) rows[last] = rows[last - 1] + 1;
        });
  }

  void add_rows() {
    for (const ImageKind& kind : image_kinds) add_images(kind);
    add_last_tokens();
    add_flattened();
    add("time that goes in steps of two is taken for one in steps of one",
        [](RowPlaces& places, const VectorInCall&) { halve_steps_of_time(places); });
    for (const std::int64_t axis : {std::int64_t{0}, axes_ - 1}) {
      add(fmt::format("the last token of a text has the place before it on axis {}", axis),
          [axis](RowPlaces& places, const VectorInCall&) {
            const bool is_text = std::ranges::all_of(places, [&](const auto& one) { return one == places.front(); });
            auto& last = places[static_cast<std::size_t>(axis)].back();
            if (is_text && places.front().front() == 0) last = std::max<std::int64_t>(last - 1, 0);
          });
    }
  }

  void add_images(const ImageKind& kind) {
    const auto of_images = [&](std::string_view words, const Change& change) {
      add(fmt::format("{}{}", words, kind.words), change);
    };
    of_images("rows and columns change places where an image has more rows than columns",
              [=](RowPlaces& places, const VectorInCall&) {
                const ImageSides sides = sides_of(places);
                if (is_raster(places, kind) && sides.rows > sides.columns)
                  std::swap(places[places.size() - 2], places[places.size() - 1]);
              });
    of_images("all rows of a batch of images have the places of the first one's image",
              [=](RowPlaces& places, const VectorInCall& at) {
                for (std::int64_t batch = 0; batch < at.batches; ++batch) {
                  if (!is_raster(row_places(at, batch), kind)) return;
                }
                places = row_places(at, 0);
              });
    of_images("rows of a batch have the sides of the first one's image, each from its own first place on",
              [=](RowPlaces& places, const VectorInCall& at) {
                const RowPlaces first = row_places(at, 0);
                if (is_raster(first, kind)) move_to(places, first);
              });
    of_images("rows of a batch with the sides of the first one's image have its places, wherever they begin",
              [=](RowPlaces& places, const VectorInCall& at) {
                const RowPlaces first = row_places(at, 0);
                if (is_raster(first, kind) && has_shape_of(places, first)) places = first;
              });
    of_images("patches in blocks of 2 x 2 are taken to follow row after row",
              [=](RowPlaces& places, const VectorInCall&) {
                if (is_in_blocks(places, kind)) make_raster(places);
              });
    of_images("a second image in a row is taken to go on below the first",
              [=](RowPlaces& places, const VectorInCall&) { continue_below(places, kind); });
  }

  Spec claim_;
  std::int64_t axes_;
  std::vector<VectorReading> list_;
};

}  // namespace

std::vector<VectorReading> other_grids(const Spec& claim) {
  if (axes_of(claim.encoding) < 2 || rope_of(claim) == nullptr) return {};
  return OtherGrids(claim).made();
}

std::vector<CallPlaces> calls_about_grids(const Spec& claim) {
  const std::int64_t axes = axes_of(claim.encoding);
  if (axes < 2) return {};
  const gen::PositionRange range{claim.min_position, claim.max_position};
  std::vector<CallPlaces> calls;
  for (std::int64_t number = 0; number < gen::placements; ++number) {
    const auto placement = static_cast<gen::Placement>(number);
    for (const std::int64_t tokens : {12, 24, 40}) {
      const std::int64_t batches = std::max<std::int64_t>(gen::rows_of(placement), 1 + tokens % 3);
      calls.push_back({batches, 2, gen::placed_positions(placement, range, 0, axes, {batches, tokens, 1}, {})});
    }
    const std::int64_t few = std::max<std::int64_t>(gen::rows_of(placement), 1);
    calls.push_back({few, 1, gen::placed_positions(placement, range, 3, axes, {few, 12, 1}, {})});
  }
  // Images of other sides from 0 on and elsewhere in one batch.
  CallPlaces images{3, 1, {}};
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    struct Image {
      std::int64_t columns;
      std::int64_t start;
    };
    for (const Image& image : {Image{4, 0}, Image{6, 9}, Image{3, 5}}) {
      for (std::int64_t token = 0; token < 12; ++token) {
        const std::int64_t moved = axis + 1 == axes   ? token % image.columns
                                   : axis + 2 == axes ? token / image.columns
                                                      : 0;
        images.positions.push_back(image.start + moved);
      }
    }
  }
  calls.push_back(std::move(images));
  return calls;
}

}  // namespace sextant::identify
