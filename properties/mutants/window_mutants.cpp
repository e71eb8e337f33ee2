#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "properties/mutants/plain_others.hpp"

// Biases of windows that mistake the index of two tokens, and coordinates of their offsets that mistake the logarithm.

namespace sextant::mutants::window_mutants {
namespace {

// Oblong: in a square one height and width stand for each other.
constexpr const char* oblong = R"({"encoding":"window_bias","window":[5,7]})";
constexpr const char* square = R"({"encoding":"window_bias","window":[7,7]})";
constexpr const char* video = R"({"encoding":"window_bias","window":[3,4,2]})";
constexpr const char* with_class_token = R"({"encoding":"window_bias","window":[4,6],"class_token":"first"})";
constexpr const char* attention = R"({"encoding":"attention","num_heads":2,"head_dim":16,)"
                                  R"("position":{"encoding":"window_bias","window":[5,7]}})";
constexpr const char* offsets =
    R"({"encoding":"log_coordinates","window":[8,12],"min_position":-11,"max_position":12})";
constexpr const char* pretrained = R"({"encoding":"log_coordinates","window":[24,24],"pretrained_window":[12,12],)"
                                   R"("min_position":-23,"max_position":24})";

using Rows = std::function<std::int64_t(std::int64_t query, std::int64_t key)>;

// The rows of another window, by the same code.
Rows rows_of(WindowBias encoding) {
  return [encoding = std::move(encoding)](std::int64_t query, std::int64_t key) {
    return plain_window_row(encoding, query, key);
  };
}

// The sum over axes of what `term(axis, difference)` says of each, without a class token.
Rows sum_of_axes(std::vector<std::int64_t> window,
                 std::function<std::int64_t(std::size_t axis, std::int64_t difference)> term) {
  return [window = std::move(window), term = std::move(term)](std::int64_t query, std::int64_t key) {
    const auto of_query = window_coordinates(window, query);
    const auto of_key = window_coordinates(window, key);
    std::int64_t row = 0;
    for (std::size_t axis = 0; axis < window.size(); ++axis) row += term(axis, of_query[axis] - of_key[axis]);
    return row;
  };
}

void defects_of_windows(PlainOthers& list) {
  list.defect("window-axes-swapped", "M11,N1", "tokens are numbered column by column", oblong, [](PlainOther& plain) {
    WindowBias turned = plain.window;
    std::ranges::reverse(turned.window);
    plain.window_row = rows_of(turned);
  });
  list.defect("window-axes-swapped-in-square", "M11,N1", "the row's difference and the column's change places", square,
              [](PlainOther& plain) {
                plain.window_row = sum_of_axes(plain.window.window, [](std::size_t axis, std::int64_t difference) {
                  return (difference + 6) * (axis == 0 ? 1 : 13);
                });
              });
  list.defect("window-of-its-height", "M11", "the window is taken for a square of its height", oblong,
              [](PlainOther& plain) {
                WindowBias height = plain.window;
                height.window.back() = height.window.front();
                plain.window_row = rows_of(height);
              });
  list.defect("window-wide-radix", "M9", "rows of differences are 2 width long, not one less", oblong,
              [](PlainOther& plain) {
                plain.window_row = sum_of_axes(plain.window.window, [](std::size_t axis, std::int64_t difference) {
                  return axis == 0 ? (difference + 4) * 14 : difference + 6;
                });
              });
  list.defect("window-radix-of-height", "M9,M11", "rows of differences are 2 height - 1 long", oblong,
              [](PlainOther& plain) {
                plain.window_row = sum_of_axes(plain.window.window, [](std::size_t axis, std::int64_t difference) {
                  return axis == 0 ? (difference + 4) * 9 : difference + 6;
                });
              });
  list.defect("window-narrow-radix", "M9", "rows of differences are as long as the window is wide", square,
              [](PlainOther& plain) {
                plain.window_row = sum_of_axes(plain.window.window, [](std::size_t axis, std::int64_t difference) {
                  return axis == 0 ? (difference + 6) * 7 : difference + 6;
                });
              });
  list.defect("window-flattened", "M9", "the difference of the tokens' numbers, not of their coordinates", oblong,
              [](PlainOther& plain) {
                plain.window_row = [](std::int64_t query, std::int64_t key) { return query - key + 34; };
              });
  list.defect("window-sign", "M10", "the query is subtracted from the key", oblong, [](PlainOther& plain) {
    plain.window_row = [own = plain.window_row](std::int64_t query, std::int64_t key) { return own(key, query); };
  });
  list.defect("window-unshifted", "M12", "differences are not made positive, and negative rows wrap round", oblong,
              [](PlainOther& plain) {
                plain.window_row = sum_of_axes(plain.window.window, [](std::size_t axis, std::int64_t difference) {
                  return axis == 0 ? difference * 13 : difference;
                });
              });
  list.defect("window-shifted-by-height", "M11,M12", "columns' differences are made positive by the height", oblong,
              [](PlainOther& plain) {
                plain.window_row = sum_of_axes(plain.window.window, [](std::size_t axis, std::int64_t difference) {
                  return axis == 0 ? (difference + 4) * 13 : difference + 4;
                });
              });
  list.defect("window-heads-swapped", "C3", "the heads' weights are read in reverse", oblong, [](PlainOther& plain) {
    plain.head_of = [](std::int64_t head, std::int64_t heads) { return heads - 1 - head; };
  });
  list.defect("window-depth-dropped", "M9,N8", "the difference in depth does not count", video, [](PlainOther& plain) {
    plain.window_row = [own = plain.window_row](std::int64_t query, std::int64_t key) {
      return own(query % 8, key % 8);
    };
  });
  list.defect("window-depth-last", "M11", "depth is the fastest axis", video, [](PlainOther& plain) {
    WindowBias turned = plain.window;
    std::ranges::rotate(turned.window, turned.window.begin() + 1);
    plain.window_row = rows_of(turned);
  });
  list.defect("window-class-rows-permuted", "M13", "the class token's rows as query and as key change places",
              with_class_token, [](PlainOther& plain) {
                plain.window_row = [own = plain.window_row](std::int64_t query, std::int64_t key) {
                  return query == 0 || key == 0 ? own(key, query) : own(query, key);
                };
              });
  list.defect("window-class-rows-first", "M13", "the class token's rows come before the others", with_class_token,
              [](PlainOther& plain) {
                plain.window_row = [own = plain.window_row](std::int64_t query, std::int64_t key) {
                  return own(query, key) + 3;  // wraps round
                };
              });
  list.defect("window-class-token-last", "M13", "the last token is taken for the class token", with_class_token,
              [](PlainOther& plain) {
                plain.window_row = [own = plain.window_row](std::int64_t query, std::int64_t key) {
                  return own((query + 1) % 25, (key + 1) % 25);
                };
              });
  list.defect("window-class-pair-shared", "M13", "the class token has no row of its own for itself", with_class_token,
              [](PlainOther& plain) {
                plain.window_row = [own = plain.window_row](std::int64_t query, std::int64_t key) {
                  return query == 0 && key == 0 ? own(1, 0) : own(query, key);
                };
              });
  list.defect("window-class-token-ignored", "C2,M13", "class_token is not read: there is none", oblong,
              [](PlainOther& plain) {
                WindowBias plainly = plain.window;
                plainly.class_token = ClassToken::none;
                plain.window_row = rows_of(plainly);
              });
  list.defect("window-extents-ignored", "C2", "window is not read: it is 5 x 7", oblong, [](PlainOther& plain) {
    WindowBias usual = plain.window;
    usual.window = {5, 7};
    plain.window_row = rows_of(usual);
  });
  list.defect("attention-window-dropped", "M5", "the window's bias is skipped", attention,
              [](PlainOther& plain) { plain.bias_scale = 0; });
  list.defect("attention-window-sign", "M10", "the query is subtracted from the key", attention, [](PlainOther& plain) {
    plain.window_row = [own = plain.window_row](std::int64_t query, std::int64_t key) { return own(key, query); };
  });
}

// sign(x) of(|x|), x = 8 offset / divisor in float32.
std::function<double(std::int64_t, std::int64_t)> by_size(const LogCoordinates& encoding,
                                                          std::function<double(double size)> of) {
  return [encoding, of = std::move(of)](std::int64_t axis, std::int64_t offset) {
    if (offset == 0) return 0.0;
    const double x = 8 * static_cast<double>(offset) / static_cast<double>(divisor(encoding, axis));
    return std::copysign(of(std::fabs(x)), x);
  };
}

void defects_of_offsets(PlainOthers& list) {
  const auto another_size = [&](std::string name, std::string row, std::string mechanism, double (*of)(double size)) {
    list.defect(std::move(name), std::move(row), std::move(mechanism), offsets,
                [of](PlainOther& plain) { plain.log_coordinate = by_size(plain.offsets, of); });
  };
  another_size("log-coordinates-natural", "M14", "the natural logarithm, divided by log2 8",
               [](double size) { return std::log1p(size) / 3; });
  another_size("log-coordinates-no-one", "M14", "the logarithm of the size, not of the size and 1",
               [](double size) { return std::log2(size) / 3; });
  another_size("log-coordinates-not-divided", "M14", "the logarithm is not divided by log2 8",
               [](double size) { return std::log2(size + 1); });
  another_size("log-coordinates-scaled-after", "M14", "8 multiplies the logarithm, not what it is of",
               [](double size) { return 8 * std::log2(size / 8 + 1) / 3; });
  another_size("log-coordinates-linear", "M14", "the offsets as they are, between -1 and 1",
               [](double size) { return size / 8; });
  list.defect("log-coordinates-unsigned", "M10,M14", "the sign is lost", offsets, [](PlainOther& plain) {
    plain.log_coordinate = [own = plain.log_coordinate](std::int64_t axis, std::int64_t offset) {
      return std::fabs(own(axis, offset));
    };
  });
  list.defect("log-coordinates-by-extent", "M14", "offsets are divided by the extent, not by one less", offsets,
              [](PlainOther& plain) {
                LogCoordinates wider = plain.offsets;
                for (std::int64_t& extent : wider.window) ++extent;
                plain.log_coordinate = by_size(wider, [](double size) { return std::log2(size + 1) / 3; });
              });
  list.defect("log-coordinates-divisors-swapped", "M11,N1", "each axis is divided by the other's extent", offsets,
              [](PlainOther& plain) {
                plain.log_coordinate = [own = plain.log_coordinate](std::int64_t axis, std::int64_t offset) {
                  return own(1 - axis, offset);
                };
              });
  list.defect("log-coordinates-axes-swapped", "M11,N1", "the two channels change places", pretrained,
              [](PlainOther& plain) { plain.axis_of_channel = [](std::int64_t channel) { return 1 - channel; }; });
  list.defect("log-coordinates-pretrained-ignored", "C2,M14", "pretrained_window is not read", offsets,
              [](PlainOther& plain) {
                LogCoordinates own = plain.offsets;
                own.pretrained_window.clear();
                plain.log_coordinate = by_size(own, [](double size) { return std::log2(size + 1) / 3; });
              });
  list.defect("log-coordinates-pretrained-dropped", "M14", "offsets are divided by the window at hand", pretrained,
              [](PlainOther& plain) {
                LogCoordinates own = plain.offsets;
                own.pretrained_window.clear();
                plain.log_coordinate = by_size(own, [](double size) { return std::log2(size + 1) / 3; });
              });
  list.defect("log-coordinates-in-bfloat16", "A13", "offsets are divided in bfloat16", offsets, [](PlainOther& plain) {
    plain.log_coordinate =
        by_size(plain.offsets, [](double size) { return std::log2(round_to(Dtype::bfloat16, size) + 1) / 3; });
  });
}

void controls(PlainOthers& list) {
  list.control("window-plain", "an oblong window", oblong);
  list.control("window-square", "Swin's window", square);
  list.control("window-video", "three axes", video);
  list.control("window-class-token", "BEiT's class token", with_class_token);
  list.control("window-line", "one axis", R"({"encoding":"window_bias","window":[16]})");
  list.control("window-of-one", "a window of one token", R"({"encoding":"window_bias","window":[1,1]})");
  list.control("attention-window-bias", "a window's bias in attention", attention);
  list.control("log-coordinates-plain", "an oblong window", offsets);
  list.control("log-coordinates-pretrained", "a window that grew after pretraining", pretrained);
  list.control("log-coordinates-by-log1p", "the natural logarithm of 1 and more, divided by ln 8", offsets,
               [](PlainOther& plain) {
                 plain.log_coordinate =
                     by_size(plain.offsets, [](double size) { return std::log1p(size) / std::log(8.0); });
               });
}

}  // namespace

std::vector<Mutant> all() {
  PlainOthers list;
  defects_of_windows(list);
  defects_of_offsets(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::window_mutants
