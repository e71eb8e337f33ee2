#include <algorithm>
#include <utility>
#include <vector>

#include "properties/mutants/local_fault.hpp"

// Rotations by several axes, and scaled ones, that are wrong in calls of some shape or order, or at one position alone.

namespace sextant::mutants::shaped_rotation_mutants {
namespace {

constexpr const char* axial = R"({"encoding":"rope_nd","head_dim":12,"sections":[2,2,2],"max_position":4096})";
constexpr const char* uneven = R"({"encoding":"rope_nd","head_dim":16,"sections":[2,5,1],"max_position":4096})";
constexpr const char* woven = R"({"encoding":"rope_nd","head_dim":12,"sections":[2,2,2],)"
                              R"("section_order":"interleaved","max_position":4096})";
constexpr const char* xpos = R"({"encoding":"xpos","head_dim":16,"pairing":"interleaved","max_position":4096})";
constexpr const char* xpos_key =
    R"({"encoding":"xpos","head_dim":16,"pairing":"interleaved","role":"key","max_position":4096})";

// The call with every token's coordinate on one axis that of another.
Wrong with_axis_of(std::size_t axis, std::size_t other) {
  return [axis, other](const Asked& asked) {
    Tensors inputs = asked.inputs;
    std::vector<std::int64_t> positions = inputs.at("positions").integers();
    const auto tokens = static_cast<std::size_t>(asked.answer.shape[0] * asked.answer.shape[1]);
    for (std::size_t i = 0; i < tokens; ++i) positions[axis * tokens + i] = positions[other * tokens + i];
    inputs.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
    return asked.again(inputs);
  };
}

// The last token as it would be with one of its coordinates, on axis 0, 1 or 2, one less; where all batch rows are the
// same and `is_placed` says so of the coordinates of one.
using Coordinates = std::vector<std::vector<std::int64_t>>;  // [axis][token]
Wrong with_last_token_before(std::size_t changed, bool (*is_placed)(const Coordinates& row)) {
  return [=](const Asked& asked) {
    Tensors inputs = asked.inputs;
    std::vector<std::int64_t> positions = inputs.at("positions").integers();
    const auto batch = static_cast<std::size_t>(asked.answer.shape[0]);
    const auto tokens = static_cast<std::size_t>(asked.answer.shape[1]);
    Coordinates first;
    for (std::size_t at = 0; at < positions.size(); at += batch * tokens) {
      const auto begin = positions.begin() + static_cast<std::ptrdiff_t>(at);
      first.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(tokens));
      for (std::size_t i = tokens; i < batch * tokens; ++i)
        if (positions[at + i] != positions[at + i % tokens]) return asked.answer;
    }
    if (tokens < 2 || !is_placed(first)) return asked.answer;
    for (std::size_t row = 0; row < batch; ++row) {
      std::int64_t& last = positions[(changed * batch + row) * tokens + tokens - 1];
      last = std::max<std::int64_t>(last - 1, 0);
    }
    inputs.at("positions") = Tensor::of_integers(inputs.at("positions").shape, positions);
    return asked.again(inputs);
  };
}

bool is_text(const Coordinates& row) { return row[0].front() == 0 && row[0] == row[1] && row[1] == row[2]; }
bool is_image(const Coordinates& row) {
  return row[0].front() == row[0].back() && row[1].front() != row[1].back() && row[0] != row[1];
}

void placed_faults(LocalFaults& list) {
  const auto everywhere = [](const Spot&) { return true; };
  list.defect("axial-text-last-token", "the last token of a text from 0 on has the place before it in width", axial,
              everywhere, with_last_token_before(2, is_text));
  list.defect("axial-image-last-token", "the last token of an image has the row before it", axial, everywhere,
              with_last_token_before(1, is_image));
}

void axial_faults(LocalFaults& list) {
  list.defect(
      "axial-second-axis-late", "tokens from 64 on have the first axis' position on the second", axial,
      [](const Spot& at) { return at.token >= 64; }, with_axis_of(1, 0));
  list.defect(
      "axial-third-axis-rows", "rows from the second on have the second axis' position on the third", axial,
      [](const Spot& at) { return at.batch >= 1; }, with_axis_of(2, 1));
  list.defect(
      "axial-third-axis-heads", "heads from the fourth on have the first axis' position on the third", uneven,
      [](const Spot& at) { return at.head >= 3; }, with_axis_of(2, 0));
  list.defect(
      "axial-border-pair", "the last pair of the second section belongs to the third in heads from 16 on", uneven,
      [](const Spot& at) { return at.head >= 16 && (at.channel == 6 || at.channel == 14); }, with_axis_of(1, 2));
  list.defect(
      "axial-border-pair-rows", "the first pair of the second section belongs to the first in later rows", uneven,
      [](const Spot& at) { return at.batch >= 1 && (at.channel == 2 || at.channel == 10); }, with_axis_of(1, 0));
  list.defect(
      "axial-one-token", "a single token turns by its first axis alone", woven,
      [](const Spot& at) { return at.tokens == 1 && at.batches > 1; }, with_axis_of(1, 0));
  list.defect(
      "axial-position-1023", "one position of the first axis is that before it", axial,
      [](const Spot& at) { return at.position == 1023; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 1, 0); }));
  list.defect(
      "axial-second-3000", "one position of the second axis is not turned", axial,
      [](const Spot& at) { return at.second == 3000; }, as_given());
  list.defect(
      "axial-tail-of-8", "tokens after the last block of 8 are not turned", axial,
      [](const Spot& at) { return at.tokens > 8 && at.token >= at.tokens / 8 * 8; }, as_given());
  list.defect(
      "axial-odd-head", "the last of an odd number of heads, 5 or more, is not turned", axial,
      [](const Spot& at) { return at.heads >= 5 && at.heads % 2 == 1 && at.head == at.heads - 1; }, as_given());
  list.defect(
      "axial-head-127", "the last of 128 heads is not turned", axial, [](const Spot& at) { return at.head == 127; },
      as_given());
  list.defect(
      "axial-far-apart", "a second coordinate that is far beyond the first is not turned", axial,
      [](const Spot& at) { return at.position < 100 && at.second > 3900; }, as_given());
  list.defect(
      "axial-repeats", "a token at the position of that before it has its vector", axial,
      [](const Spot& at) { return at.token > 0 && at.position == at.before; }, from_token(-1));
}

void xpos_faults(LocalFaults& list) {
  list.defect(
      "xpos-scale-table-of-2048", "a table of scales has 2048 rows; later ones are the last", xpos,
      [](const Spot& at) { return at.position >= 2048; },
      at_positions([](std::int64_t p) { return std::min<std::int64_t>(p, 2047); }));
  list.defect(
      "xpos-multiple-of-base", "positions that are multiples of scale_base are not scaled nor turned", xpos,
      [](const Spot& at) { return at.position > 0 && at.position % 512 == 0; }, as_given());
  list.defect(
      "xpos-position-3333", "one row of the table is that before it", xpos,
      [](const Spot& at) { return at.position == 3333; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 1, 0); }));
  list.defect(
      "xpos-key-later-rows", "of keys the rows from the second on are not turned", xpos_key,
      [](const Spot& at) { return at.batch >= 1; }, as_given());
  list.defect(
      "xpos-last-head", "the last of five heads or more is that before it", xpos,
      [](const Spot& at) { return at.heads >= 5 && at.head == at.heads - 1; }, from_head(-1));
  list.defect(
      "xpos-heads-from-32", "a grid has 32 heads at most: later ones are not written", xpos,
      [](const Spot& at) { return at.head >= 32; }, zeros());
  list.defect(
      "xpos-second-block", "tokens from 256 on have the positions of the first block", xpos,
      [](const Spot& at) { return at.token >= 256; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 256, 0); }));
  list.defect(
      "xpos-one-token", "a single token of several rows is not turned", xpos_key,
      [](const Spot& at) { return at.tokens == 1 && at.batches > 1; }, as_given());
  list.defect(
      "xpos-last-pair-late", "the last pair is left out from token 16 on", xpos,
      [](const Spot& at) { return at.token >= 16 && at.channel >= 14; }, as_given());
  list.defect(
      "xpos-last-position", "the last position of the claim is that before it", xpos,
      [](const Spot& at) { return at.position == 4095; },
      at_positions([](std::int64_t p) { return std::max<std::int64_t>(p - 1, 0); }));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  axial_faults(list);
  xpos_faults(list);
  placed_faults(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::shaped_rotation_mutants
