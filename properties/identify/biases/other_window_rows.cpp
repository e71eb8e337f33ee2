#include "properties/identify/biases/other_window_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "reference/window_bias.hpp"

namespace sextant::identify {
namespace {

// One axis: what a difference is raised by, and what one step of it counts.
struct Axis {
  std::int64_t shift;
  std::int64_t step;
};

class OtherRows {
 public:
  explicit OtherRows(const WindowBias& claimed)
      : claimed_(claimed), class_tokens_(claimed.class_token == ClassToken::first ? 1 : 0) {
    std::int64_t step = 1;
    for (std::size_t axis = claimed.window.size(); axis-- > 0;) {
      axes_.insert(axes_.begin(), {claimed.window[axis] - 1, step});
      step *= 2 * claimed.window[axis] - 1;
    }
  }

  std::vector<OtherWindowRows> made() && {
    add("query and key change places: the bias is that of query - key, reversed",
        [own = claimed_](std::int64_t q, std::int64_t k) { return reference::window_row(own, k, q); });
    add_windows();
    if (claimed_.window.size() == 2) add_planes();
    if (claimed_.window.size() == 3) add_depth();
    const std::int64_t last = tokens() - 1;
    add_of_window("the difference is that of the tokens' numbers, not of their coordinates",
                  [last](std::int64_t q, std::int64_t k) { return q - k + last; });
    for (std::size_t axis = 0; axis < axes_.size(); ++axis) {
      add_of_axes(fmt::format("the difference on axis {} is key - query, where the claim has query - key", axis), axes_,
                  static_cast<std::int64_t>(axis));
    }
    std::vector<Axis> unshifted = axes_;
    for (Axis& one : unshifted) one.shift = 0;
    add_of_axes("differences are not made positive: rows below 0 wrap round to the weight's end", unshifted);
    if (class_tokens_ > 0) add_class_token();
    return std::move(list_);
  }

 private:
  void add(std::string words, std::function<std::int64_t(std::int64_t query, std::int64_t key)> row) {
    list_.push_back({std::move(words), std::move(row)});
  }

  std::int64_t tokens() const {
    return std::accumulate(claimed_.window.begin(), claimed_.window.end(), std::int64_t{1}, std::multiplies<>());
  }

  // Of the window's own tokens, numbered from 0; pairs with the class token have their rows.
  void add_of_window(std::string words, std::function<std::int64_t(std::int64_t query, std::int64_t key)> row) {
    add(std::move(words),
        [own = claimed_, first = class_tokens_, row = std::move(row)](std::int64_t q, std::int64_t k) {
          return q < first || k < first ? reference::window_row(own, q, k) : row(q - first, k - first);
        });
  }

  // The sum over axes of (difference + shift) step; `mirrored` is the axis on which the key's coordinate comes first.
  void add_of_axes(std::string words, std::vector<Axis> axes, std::int64_t mirrored = -1) {
    add_of_window(
        std::move(words), [window = claimed_.window, axes = std::move(axes), mirrored](std::int64_t q, std::int64_t k) {
          std::int64_t row = 0;
          for (std::size_t axis = window.size(); axis-- > 0; q /= window[axis], k /= window[axis]) {
            const std::int64_t difference = q % window[axis] - k % window[axis];
            row += ((static_cast<std::int64_t>(axis) == mirrored ? -difference : difference) + axes[axis].shift) *
                   axes[axis].step;
          }
          return row;
        });
  }

  // Another window of as many axes, by the same rule, of tokens that it numbers its own way.
  void add_window(const std::string& words, const std::vector<std::int64_t>& window) {
    if (window == claimed_.window) return;
    for (const FirstAxis beyond : {FirstAxis::goes_on, FirstAxis::wraps}) add_window(words, window, beyond);
  }

  // What becomes of rows beyond the window's first extent.
  enum class FirstAxis { goes_on, wraps };
  void add_window(std::string words, std::vector<std::int64_t> window, FirstAxis beyond) {
    WindowBias other{.window = std::move(window), .class_token = ClassToken::none};
    add_of_window(std::move(words), [other = std::move(other), beyond](std::int64_t q, std::int64_t k) {
      std::int64_t row = 0;
      std::int64_t step = 1;
      for (std::size_t axis = other.window.size(); axis-- > 0;) {
        const std::int64_t extent = other.window[axis];
        const bool goes_on = axis == 0 && beyond == FirstAxis::goes_on;
        const std::int64_t difference = goes_on ? q - k : q % extent - k % extent;
        row += (difference + extent - 1) * step;
        step *= 2 * extent - 1;
        q /= extent;
        k /= extent;
      }
      return row;
    });
  }

  void add_windows() {
    std::vector<std::int64_t> reversed(claimed_.window.rbegin(), claimed_.window.rend());
    add_window("the window's extents are taken in reverse order", reversed);
    if (claimed_.window.size() != 2) return;
    add_window("the window is taken for a square of its height", {claimed_.window[0], claimed_.window[0]});
    add_window("the window is taken for a square of its width", {claimed_.window[1], claimed_.window[1]});
    add_numberings();
  }

  // Cells that are numbered with rows of another width, in the weight of the claim's own window.
  void add_numberings() {
    const std::int64_t height = claimed_.window[0];
    const std::int64_t width = claimed_.window[1];
    for (std::int64_t by = 2; by < height * width; ++by) {
      for (const std::int64_t remainder : {by, width}) {
        for (const std::int64_t rows : {height * width, height}) {
          if (by == width && remainder == width) continue;
          const std::string wrapped = rows == height ? ", and the row is taken modulo the height" : "";
          const std::string words =
              remainder == by
                  ? fmt::format("cells are numbered with rows of {}, where the window has rows of {}", by, width)
                  : fmt::format("a cell's row is its number / {}, not / {}, and its column is its own", by, width);
          add_of_window(words + wrapped, [=, axes = axes_](std::int64_t q, std::int64_t k) {
            return (q / by % rows - k / by % rows + axes[0].shift) * axes[0].step +
                   (q % remainder - k % remainder + axes[1].shift) * axes[1].step;
          });
        }
      }
    }
  }

  void add_planes() {
    const std::int64_t height = claimed_.window[0];
    const std::int64_t width = claimed_.window[1];
    const auto radix = [&](std::string words, std::int64_t step) {
      if (step != axes_[0].step) add_of_axes(std::move(words), {{axes_[0].shift, step}, axes_[1]});
    };
    add_of_axes("rows of the weight are counted column by column, where the claim has them row by row",
                {{height - 1, 1}, {width - 1, 2 * height - 1}});
    radix("a step down counts 2 width rows of the weight, not one less", 2 * width);
    radix("a step down counts 2 height - 1 rows of the weight, not 2 width - 1", 2 * height - 1);
    radix("a step down counts as many rows of the weight as the window is wide, not 2 width - 1", width);
    add_of_axes("differences of columns are made positive by the height, not by the width",
                {axes_[0], {height - 1, axes_[1].step}});
    add_of_axes("differences of rows are made positive by the width, not by the height",
                {{width - 1, axes_[0].step}, axes_[1]});
  }

  void add_depth() {
    const std::int64_t plane = claimed_.window[1] * claimed_.window[2];
    WindowBias own = claimed_;
    own.class_token = ClassToken::none;
    add_of_window("the difference in depth does not count", [own, plane](std::int64_t q, std::int64_t k) {
      return reference::window_row(own, q % plane, k % plane);
    });
    add_window("depth is the fastest axis: the window's extents are taken as height, width, depth",
               {claimed_.window[1], claimed_.window[2], claimed_.window[0]});
  }

  void add_class_token() {
    const std::int64_t count = tokens() + 1;
    const auto own = [claimed = claimed_](std::int64_t q, std::int64_t k) {
      return reference::window_row(claimed, q, k);
    };
    add("the class token's rows as query and as key change places",
        [own](std::int64_t q, std::int64_t k) { return q == 0 || k == 0 ? own(k, q) : own(q, k); });
    add("the class token's three rows come before the others, where the claim has them last",
        [own](std::int64_t q, std::int64_t k) { return own(q, k) + 3; });
    add("the last token is taken for the class token, where the claim has the first",
        [own, count](std::int64_t q, std::int64_t k) { return own((q + 1) % count, (k + 1) % count); });
    add("the class token has its row as key for itself too, where the claim has a row of its own for that",
        [own](std::int64_t q, std::int64_t k) { return q == 0 && k == 0 ? own(1, 0) : own(q, k); });
    add("the class token has its row as query for itself too, where the claim has a row of its own for that",
        [own](std::int64_t q, std::int64_t k) { return q == 0 && k == 0 ? own(0, 1) : own(q, k); });
  }

  WindowBias claimed_;
  std::int64_t class_tokens_;
  std::vector<Axis> axes_;
  std::vector<OtherWindowRows> list_;
};

}  // namespace

std::vector<OtherWindowRows> other_window_rows(const WindowBias& claimed) { return OtherRows(claimed).made(); }

}  // namespace sextant::identify
