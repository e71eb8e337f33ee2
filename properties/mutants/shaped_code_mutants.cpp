#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "lib/numeric/ulp.hpp"
#include "properties/mutants/local_fault.hpp"

// Codes that are wrong in calls of some shape or order, or at some position alone.

namespace sextant::mutants::shaped_code_mutants {
namespace {

constexpr const char* sinusoidal = R"({"encoding":"sinusoidal","dim":16})";
constexpr const char* concatenated = R"({"encoding":"sinusoidal","dim":16,"layout":"concatenated"})";
constexpr const char* scaled = R"({"encoding":"sinusoidal","dim":16,"scale":0.25,"max_position":16384})";
constexpr const char* offset = R"({"encoding":"sinusoidal","dim":16,"position_offset":2,"max_position":16384})";
constexpr const char* grid = R"({"encoding":"sinusoidal_2d","dim":16,"height":300,"width":520})";
constexpr const char* tall_grid = R"({"encoding":"sinusoidal_2d","dim":16,"height":200,"width":24})";
constexpr const char* width_first =
    R"({"encoding":"sinusoidal_2d","dim":16,"height":64,"width":64,"axis_order":"width_first"})";
constexpr const char* integer = R"({"encoding":"integer","dim":2})";
constexpr const char* far_integer = R"({"encoding":"integer","max_position":67108864})";
constexpr const char* normalised = R"({"encoding":"integer","normalize":true,"max_position":4096})";
constexpr const char* binary = R"({"encoding":"binary","dim":17})";
constexpr const char* signs = R"({"encoding":"binary","dim":14,"normalize":true})";
constexpr const char* learned = R"({"encoding":"learned","dim":6,"max_positions":10000})";
constexpr const char* small_table = R"({"encoding":"learned","dim":6,"max_positions":197})";
constexpr const char* long_table = R"({"encoding":"learned","dim":2,"max_positions":70000})";

std::int64_t less_one(std::int64_t position) { return std::max<std::int64_t>(position - 1, 0); }

// Cells of a grid in rows, where a call has as many as the grid, or as a row and stays in one.
Wrong in_raster_order(std::int64_t height, std::int64_t width) {
  return [=](const Asked& asked) {
    std::vector<std::int64_t> positions = asked.inputs.at("positions").integers();
    const std::int64_t cells = asked.answer.shape[0];
    const bool is_row =
        cells == width && std::equal(positions.begin() + 1, positions.begin() + cells, positions.begin());
    if (!is_row && cells != height * width) return asked.answer;
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      if (!is_row) positions[static_cast<std::size_t>(cell)] = cell / width;
      positions[static_cast<std::size_t>(cells + cell)] = cell % width;
    }
    Tensors inputs = asked.inputs;
    inputs.at("positions") = Tensor::of_integers({2, cells}, positions);
    return asked.again(inputs);
  };
}

// Towards zero.
Tensor cut_off(const Asked& asked) {
  const std::vector<std::int64_t> positions = asked.inputs.at("positions").integers();
  Tensor wrong = asked.answer;
  const std::int64_t columns = wrong.shape[1];
  for (std::int64_t i = 0; i < wrong.elements(); ++i) {
    if (wrong.at(i) > static_cast<double>(positions[static_cast<std::size_t>(i / columns)]))
      wrong.set(i, next_below(wrong.dtype, wrong.at(i)));
  }
  return wrong;
}

void usual_calls(LocalFaults& list) {
  const auto everywhere = [](const Spot&) { return true; };
  list.defect("grid-raster-order", "as many cells as a grid has are taken for all of them in their order", tall_grid,
              everywhere, in_raster_order(200, 24));
  list.defect("grid-row-order", "as many cells of a row as it has are taken for all in their order", width_first,
              everywhere, in_raster_order(1 << 20, 64));
  list.defect(
      "learned-whole-table", "of a call of the whole table the last row is not written", small_table,
      [](const Spot& at) { return at.tokens == 197 && at.token == 196 && at.position == 196; }, zeros());
  list.gradient(
      "learned-whole-table-gradient", "of as many uses as rows the last is lost", small_table,
      [](const Spot& at) { return at.token == 196; },
      [](const Asked& asked) {
        Tensor wrong = asked.answer;
        if (asked.inputs.at("positions").elements() != 197) return wrong;
        for (std::int64_t i = 0; i < wrong.shape[1]; ++i) wrong.set(196 * wrong.shape[1] + i, 0);
        return wrong;
      });
  list.defect("integer-cut-off", "positions are cut off to 24 bits, not rounded", far_integer, everywhere, cut_off);
}

void sinusoidal_faults(LocalFaults& list) {
  list.defect(
      "sinusoidal-tail-of-16", "rows after the last block of 16 are not written", sinusoidal,
      [](const Spot& at) { return at.tokens > 16 && at.token >= at.tokens / 16 * 16; }, zeros());
  list.defect(
      "sinusoidal-base-position", "position 10000 is taken for the base", sinusoidal,
      [](const Spot& at) { return at.position == 10000; }, negated());
  list.defect(
      "sinusoidal-table-of-5000", "the row at which a table of 5000 grows is not filled", sinusoidal,
      [](const Spot& at) { return at.position == 5000; }, zeros());
  list.defect(
      "sinusoidal-one-row-far", "a row alone beyond 65535 wraps", sinusoidal,
      [](const Spot& at) { return at.tokens == 1 && at.position > 65535; },
      at_positions([](std::int64_t p) { return p % 65536; }));
  list.defect(
      "sinusoidal-position-131000", "one row has its first two channels swapped", sinusoidal,
      [](const Spot& at) { return at.position == 131000 && at.channel == 0; }, from_channel(1));
  list.defect(
      "sinusoidal-1023-rows", "a path for 1023 rows leaves out the last channel", sinusoidal,
      [](const Spot& at) { return at.tokens == 1023 && at.channel == 15; }, zeros());
  list.defect(
      "sinusoidal-blocks-of-512", "each block of 512 rows starts with that before it", sinusoidal,
      [](const Spot& at) { return at.token > 0 && at.token % 512 == 0; }, from_token(-1));
  list.defect(
      "sinusoidal-descending", "rows in descending order come in ascending order", sinusoidal,
      [](const Spot& at) { return at.tokens > 2 && at.position == at.before - 1 && at.token == at.tokens - 1; },
      at_positions([](std::int64_t p) { return p + 1; }));
  list.defect(
      "sinusoidal-repeat", "a position that comes again is the next one", sinusoidal,
      [](const Spot& at) { return at.tokens > 30 && at.position == at.before; },
      at_positions([](std::int64_t p) { return p + 1; }));
  list.defect(
      "sinusoidal-cosines-late", "the second half of the channels is not written from row 2000 of a call on",
      concatenated, [](const Spot& at) { return at.token >= 2000 && at.channel >= 8; }, zeros());
  list.defect(
      "sinusoidal-unscaled-late", "the scale is left out from row 1024 of a call on", scaled,
      [](const Spot& at) { return at.token >= 1024; },
      [](const Asked& asked) {
        Tensor wrong = asked.answer;
        for (std::int64_t i = 0; i < wrong.elements(); ++i) wrong.set(i, 4 * wrong.at(i));
        return wrong;
      });
  list.defect(
      "sinusoidal-offset-late", "the offset is left out in the last row of long calls", offset,
      [](const Spot& at) { return at.tokens >= 200 && at.token == at.tokens - 1 && at.position >= 2; },
      at_positions([](std::int64_t p) { return p - 2; }));
  list.defect(
      "sinusoidal-last-channel-16384", "at multiples of 16384 the last cosine is 1", sinusoidal,
      [](const Spot& at) { return at.position > 0 && at.position % 16384 == 0 && at.channel == 15; },
      at_positions([](std::int64_t) { return 0; }));
}

void grid_faults(LocalFaults& list) {
  list.defect(
      "grid-last-column", "the last column is that before it", grid, [](const Spot& at) { return at.second == 519; },
      at_positions(less_one));
  list.defect(
      "grid-last-row", "the last row is not written", grid, [](const Spot& at) { return at.position == 299; }, zeros());
  list.defect(
      "grid-column-256", "columns are counted in 8 bits: 256 is 0", grid,
      [](const Spot& at) { return at.second == 256 && at.channel >= 8; }, at_positions([](std::int64_t) { return 0; }));
  list.defect(
      "grid-second-256", "tokens from 256 on, the second image, have the first token's row", tall_grid,
      [](const Spot& at) { return at.token >= 256 && at.channel < 8; },
      at_positions([](std::int64_t p) { return p / 2; }));
  list.defect(
      "grid-column-of-row", "beyond the width of a grid that is higher than wide columns are rows", tall_grid,
      [](const Spot& at) { return at.position >= 24 && at.position == at.second + 24 && at.channel >= 8; },
      from_channel(-8));
  list.defect(
      "grid-diagonal", "on the diagonal of a large grid both halves are the column's less one", grid,
      [](const Spot& at) { return at.position > 100 && at.position == at.second; }, at_positions(less_one));
  list.defect(
      "grid-tail-of-4", "cells after the last four of a long call are not written", grid,
      [](const Spot& at) { return at.tokens > 64 && at.token >= at.tokens / 4 * 4; }, zeros());
  list.defect(
      "grid-width-first-63", "with width first, the last row is that before it", width_first,
      [](const Spot& at) { return at.position == 63; }, at_positions(less_one));
}

void exact_faults(LocalFaults& list) {
  list.defect(
      "integer-position-40000", "one position of a table is that before it", integer,
      [](const Spot& at) { return at.position == 40000; }, at_positions(less_one));
  list.defect(
      "integer-int16", "positions from 32768 on are negative in calls of 8 and more", integer,
      [](const Spot& at) { return at.position >= 32768 && at.tokens >= 8; },
      at_positions([](std::int64_t p) { return p - 32768; }));
  list.defect(
      "integer-second-channel-late", "the second channel lags by one row from row 300 on", integer,
      [](const Spot& at) { return at.token >= 300 && at.channel == 1; }, from_token(-1));
  list.defect(
      "integer-repeats", "a position that comes again is counted up", integer,
      [](const Spot& at) { return at.position == at.before; }, at_positions([](std::int64_t p) { return p + 1; }));
  list.defect(
      "integer-normalised-one-row", "one position alone is normalised by itself", normalised,
      [](const Spot& at) { return at.tokens == 1 && at.position > 1000; },
      at_positions([](std::int64_t) { return 4095; }));
  list.defect(
      "integer-nine-ulps", "one position is off by nine ULP", normalised,
      [](const Spot& at) { return at.position == 3001; }, off_by_ulps(9));
  list.defect(
      "binary-bit-16", "the highest digit is lost after the last block of 4 rows", binary,
      [](const Spot& at) { return at.channel == 16 && at.token >= at.tokens / 4 * 4; }, zeros());
  list.defect(
      "binary-all-ones", "65535 is the sign that there is no position", binary,
      [](const Spot& at) { return at.position == 65535; }, zeros());
  list.defect(
      "binary-carry", "the carry into digit 13 comes one position late", binary,
      [](const Spot& at) { return at.position % 16384 == 8192 && at.channel == 13; }, zeros());
  list.defect(
      "binary-signs-late", "digits are 0 and 1 from row 1024 on", signs,
      [](const Spot& at) { return at.token >= 1024; },
      [](const Asked& asked) {
        Tensor wrong = asked.answer;
        for (std::int64_t i = 0; i < wrong.elements(); ++i) wrong.set(i, (wrong.at(i) + 1) / 2);
        return wrong;
      });
  list.defect(
      "binary-descending", "in descending order digits are those of the row before", binary,
      [](const Spot& at) { return at.tokens > 8 && at.token > 0 && at.position < at.before; }, from_token(-1));
}

void learned_faults(LocalFaults& list) {
  list.defect(
      "learned-clipped", "weights beyond the range of float16 are clipped", learned, [](const Spot&) { return true; },
      clamped_to(65504));
  list.defect(
      "learned-padding-row", "row 0 is padding, and zero", learned, [](const Spot& at) { return at.position == 0; },
      zeros());
  list.defect(
      "learned-row-4096", "row 4096 is that before it", learned, [](const Spot& at) { return at.position == 4096; },
      at_positions(less_one));
  list.defect(
      "learned-last-row", "the last row is that before it", learned, [](const Spot& at) { return at.position == 9999; },
      at_positions(less_one));
  list.defect(
      "learned-row-32768", "an index of 16 bits with a sign: row 32768 is row 0", long_table,
      [](const Spot& at) { return at.position == 32768; }, at_positions([](std::int64_t) { return 0; }));
  list.defect(
      "learned-row-65536", "an index of 16 bits: rows from 65536 on wrap", long_table,
      [](const Spot& at) { return at.position >= 65536; }, at_positions([](std::int64_t p) { return p % 65536; }));
  list.defect(
      "learned-channel-tail", "channels after the first four are left out from row 64 on", learned,
      [](const Spot& at) { return at.token >= 64 && at.channel >= 4; }, zeros());
  list.defect(
      "learned-repeats", "of a row that comes again in a long call the second is not written", learned,
      [](const Spot& at) { return at.tokens > 16 && at.token > 0 && at.position == at.before; }, zeros());
  list.defect(
      "learned-gather-of-8", "of eight rows that are gathered at once the last is the one before", learned,
      [](const Spot& at) { return at.tokens >= 24 && at.token % 8 == 7; }, from_token(-1));
  list.defect(
      "learned-float16-late", "rows from 5000 on are kept in float16", learned,
      [](const Spot& at) { return at.position >= 5000; }, held_in(Dtype::float16));
}

}  // namespace

std::vector<Mutant> all() {
  LocalFaults list;
  sinusoidal_faults(list);
  grid_faults(list);
  exact_faults(list);
  learned_faults(list);
  usual_calls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::shaped_code_mutants
