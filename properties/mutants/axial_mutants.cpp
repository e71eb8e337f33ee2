#include <algorithm>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/mutants/plain_others.hpp"
#include "reference/rope.hpp"

// Rotations by several axes that mistake a field of the claim: which frequencies an axis has, where it stands in the
// head, how much of the head turns, and what a scaling rule makes of it.

namespace sextant::mutants::axial_mutants {
namespace {

// FLUX's and Wan's: each axis its own ladder, in blocks; here on three axes of 2, 3 and 3 pairs.
constexpr const char* per_axis = R"({"encoding":"rope_nd","head_dim":16,"sections":[2,3,3],"frequencies":"per_axis",)"
                                 R"("pairing":"interleaved","max_position":4096})";
// The towers of Kimi: axes by turns, columns first.
constexpr const char* by_turns = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",)"
                                 R"("section_order":"interleaved","axis_order":[1,0],"max_position":4096})";
// Llama 4's: columns first, in blocks.
constexpr const char* columns_first = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"max_position":4096,)"
                                      R"("frequencies":"per_axis","axis_order":[1,0],"pairing":"interleaved"})";
// Pixtral's.
constexpr const char* dealt =
    R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"dealt","max_position":4096})";
constexpr const char* own_bases = R"({"encoding":"rope_nd","head_dim":16,"sections":[2,3,3],"frequencies":"per_axis",)"
                                  R"("rope_thetas":[256,10000,30000],"max_position":4096})";
// GLM-4V's and Qwen3.5's: a part of the head.
constexpr const char* partial = R"({"encoding":"rope_nd","head_dim":32,"rotary_dim":16,"sections":[2,3,3],)"
                                R"("pairing":"interleaved","max_position":4096})";
constexpr const char* last_part = R"({"encoding":"rope_nd","head_dim":32,"rotary_dim":24,"rotary_layout":"suffix",)"
                                  R"("sections":[4,4,4],"frequencies":"per_axis","max_position":4096})";
constexpr const char* yarn =
    R"({"encoding":"rope_nd","head_dim":32,"sections":[4,6,6],"max_position":16384,)"
    R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":4096}})";
constexpr const char* yarn_per_axis =
    R"({"encoding":"rope_nd","head_dim":32,"sections":[4,6,6],"frequencies":"per_axis","max_position":16384,)"
    R"("rope_scaling":{"rope_type":"yarn","factor":4,"original_max_position_embeddings":4096}})";
constexpr const char* dynamic =
    R"({"encoding":"rope_nd","head_dim":16,"sections":[2,3,3],"max_position":4096,)"
    R"("rope_scaling":{"rope_type":"dynamic","factor":4,"original_max_position_embeddings":1024}})";
// DINOv3's, of an image that is not square.
constexpr const char* normalized = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",)"
                                   R"("rope_theta":100,"coordinates":"normalized","extents":[14,23]})";
// Of DINOv3's training: the same, moved and multiplied, the scales a jitter of 0.8125 and 1.25 times one of 1.5.
constexpr const char* jittered = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",)"
                                 R"("rope_theta":100,"coordinates":"normalized","extents":[14,23],)"
                                 R"("coordinate_shifts":[0.125,-0.3125],"coordinate_scales":[1.21875,1.875]})";
// LTX-Video's: frames 8/25 of a second apart and 32 pixels from patch to patch, in units of 20 seconds and 2048 pixels.
constexpr const char* both_ends =
    R"({"encoding":"rope_nd","head_dim":26,"rotary_dim":24,"rotary_layout":"suffix","pairing":"interleaved",)"
    R"("sections":[4,4,4],"section_order":"interleaved","frequencies":"per_axis","ladder":"both_ends",)"
    R"("coordinates":"normalized_starts","extents":[125,64,64],"coordinate_shifts":[0.5,0,0],)"
    R"("coordinate_scales":[0.5,0.25,0.25]})";
// Gemma 4's towers.
constexpr const char* within_axes = R"({"encoding":"rope_nd","head_dim":16,"sections":[4,4],"frequencies":"per_axis",)"
                                    R"("axis_order":[1,0],"pairing_scope":"axis","max_position":4096})";
constexpr const char* attention =
    R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":4096,"position":{"encoding":"rope_nd",)"
    R"("head_dim":16,"sections":[4,4],"frequencies":"per_axis","axis_order":[1,0]}})";

void defects(PlainOthers& list) {
  const auto another = [&](std::string name, std::string row, std::string mechanism, const char* claim,
                           void (*change)(RopeNd&)) {
    list.defect(std::move(name), std::move(row), std::move(mechanism), claim, [change](PlainOther& plain) {
      RopeNd encoding = plain.axial;
      change(encoding);
      plain.turn_as(encoding);
    });
  };
  another("axial-one-ladder", "D4,N9", "one list of frequencies for all pairs, where each axis has its own", per_axis,
          [](RopeNd& e) { e.frequencies = AxisFrequencies::shared; });
  list.defect("axial-ladder-of-the-head", "D4", "each axis begins anew, and divides the exponent by the head's width",
              per_axis, [](PlainOther& plain) {
                for (Ladder& ladder : plain.ladders.ladders) ladder.rope.rotary_dim = ladder.rope.head_dim = 16;
              });
  another("axial-columns-first", "N1,N4", "rows and columns change places", by_turns,
          [](RopeNd& e) { e.axis_order.clear(); });
  another("axial-rows-first", "N1,N4", "rows come first, where columns were claimed to", columns_first,
          [](RopeNd& e) { e.axis_order.clear(); });
  another("axial-blocks-for-turns", "N5,N6", "axes in blocks, where they were claimed to alternate", by_turns,
          [](RopeNd& e) { e.section_order = SectionOrder::blocked; });
  another("axial-dealt-in-blocks", "N6", "each axis has a run of the list, where it was claimed to be dealt out", dealt,
          [](RopeNd& e) { e.frequencies = AxisFrequencies::shared; });
  another("axial-dealt-as-per-axis", "N6,D4", "both axes have the same frequencies, where the list was to be dealt out",
          dealt, [](RopeNd& e) { e.frequencies = AxisFrequencies::per_axis; });
  list.defect("axial-dealt-other-hand", "N6", "the first axis has what the second was to have, and the other way round",
              dealt, [](PlainOther& plain) {
                for (auto& place : plain.ladders.places) place.index ^= 1;
              });
  another("axial-one-base", "D1", "all axes have the base of the first", own_bases,
          [](RopeNd& e) { std::ranges::fill(e.rope_thetas, e.rope_thetas.empty() ? 0 : e.rope_thetas.front()); });
  another("axial-bases-turned", "D1", "each axis has the base of the next", own_bases, [](RopeNd& e) {
    std::ranges::rotate(e.rope_thetas, e.rope_thetas.begin() + (e.rope_thetas.empty() ? 0 : 1));
  });
  list.defect("axial-exponent-of-the-head", "D4", "the exponent is divided by head_dim, where a part of it turns",
              partial, [](PlainOther& plain) { plain.ladders.ladders.front().rope.rotary_dim = 32; });
  another("axial-first-part", "", "the first channels turn, not the last", last_part,
          [](RopeNd& e) { e.rope.rotary_layout = RotaryLayout::prefix; });
  another("axial-whole-head-pairing", "D4", "the partner stands half a head away, where a part of it turns", partial,
          [](RopeNd& e) { e.rope.pairing = e.rope.output_pairing = Pairing::half; });
  another("axial-clockwise", "", "the rotation has the opposite sense", partial,
          [](RopeNd& e) { e.rope.direction = Direction::clockwise; });
  another("axial-yarn-ignored", "D11", "the rule is not applied where a position has several coordinates", yarn,
          [](RopeNd& e) { e.rope.rope_scaling = DefaultScaling{}; });
  another("axial-yarn-without-factor", "", "the rule's frequencies without its attention factor", yarn,
          [](RopeNd& e) { std::get<YarnScaling>(e.rope.rope_scaling).attention_factor = 1; });
  another("axial-yarn-of-the-head", "D4", "the ramp is that of one list, where each axis has its own", yarn_per_axis,
          [](RopeNd& e) { e.frequencies = AxisFrequencies::shared; });
  list.defect("axial-length-of-first-axis", "", "the length is the largest coordinate of the first axis + 1", dynamic,
              [](PlainOther& plain) {
                plain.row_lengths = [count = axes(plain.axial)](std::span<const std::int64_t> positions,
                                                                std::int64_t batch) {
                  const auto first_axis = positions.first(positions.size() / static_cast<std::size_t>(count));
                  const std::int64_t length = reference::sequence_length(first_axis);
                  return std::vector<std::int64_t>(static_cast<std::size_t>(batch), length);
                };
              });
  another("axial-paired-over-the-head", "", "a partner half a head away, where pairs lie within an axis' part",
          within_axes, [](RopeNd& e) { e.rope.parts = 1; });
  another("attention-axial-rows-first", "N1,N4", "rows come first, where columns were claimed to", attention,
          [](RopeNd& e) { e.axis_order.clear(); });
}

// By coordinates other than 2 pi (2 (p + 1/2)/E - 1).
void normalized_defects(PlainOthers& list) {
  const auto defect = [&](std::string name, std::string mechanism, double (*coordinate)(double p, double extent)) {
    list.defect(std::move(name), "", std::move(mechanism), normalized, [coordinate](PlainOther& plain) {
      plain.coordinate = [=, extents = plain.axial.extents](std::span<const std::int64_t> place, std::int64_t axis) {
        const auto i = static_cast<std::size_t>(axis);
        const double extent = extents.empty() ? 1 : static_cast<double>(extents[i]);
        return coordinate(static_cast<double>(place[i]), extent);
      };
    });
  };
  defect("axial-normalized-corners", "the corners of patches for their middles",
         [](double p, double extent) { return 2 * std::numbers::pi * (2 * p / extent - 1); });
  defect("axial-normalized-ends", "the first and the last patch lie at -1 and 1",
         [](double p, double extent) { return 2 * std::numbers::pi * (2 * p / std::max(extent - 1, 1.0) - 1); });
  defect("axial-normalized-half-turn", "coordinates are multiplied by pi",
         [](double p, double extent) { return std::numbers::pi * ((2 * p + 1) / extent - 1); });
  defect("axial-normalized-from-zero", "coordinates lie in [0, 1]",
         [](double p, double extent) { return 2 * std::numbers::pi * (p + 0.5) / extent; });
  defect("axial-normalized-index", "coordinates are not normalized", [](double p, double) { return p; });
  list.defect("axial-normalized-square", "N1", "both axes are divided by the first one's extent", normalized,
              [](PlainOther& plain) {
                RopeNd square = plain.axial;
                for (std::int64_t& extent : square.extents) extent = square.extents.front();
                plain.turn_as(square);
              });
  list.defect("axial-normalized-longest", "", "both axes are divided by the longer one's extent", normalized,
              [](PlainOther& plain) {
                RopeNd longest = plain.axial;
                for (std::int64_t& extent : longest.extents) extent = *std::ranges::max_element(plain.axial.extents);
                plain.turn_as(longest);
              });
}

// Specs without either move by 0 and multiply by 1.
RopeNd with_moves(RopeNd encoding) {
  if (encoding.coordinate_shifts.empty()) encoding.coordinate_shifts.assign(encoding.extents.size(), 0);
  if (encoding.coordinate_scales.empty()) encoding.coordinate_scales.assign(encoding.extents.size(), 1);
  return encoding;
}

// By other coordinates than scale (c + shift).
void moved_defects(PlainOthers& list) {
  using Coordinate = std::function<double(const RopeNd& e, double middle, std::size_t axis)>;
  const auto defect = [&](std::string name, std::string mechanism, const Coordinate& coordinate) {
    list.defect(std::move(name), "N14", std::move(mechanism), jittered, [coordinate](PlainOther& plain) {
      if (plain.axial.coordinates == Coordinates::index) return;
      plain.coordinate = [coordinate, e = with_moves(plain.axial)](std::span<const std::int64_t> place,
                                                                   std::int64_t axis) {
        const auto i = static_cast<std::size_t>(axis);
        const double middle = (2 * static_cast<double>(place[i]) + 1) / static_cast<double>(e.extents[i]) - 1;
        return 2 * std::numbers::pi * coordinate(e, middle, i);
      };
    });
  };
  defect("axial-shift-ignored", "coordinates are not moved",
         [](const RopeNd& e, double c, std::size_t i) { return e.coordinate_scales[i] * c; });
  defect("axial-scale-ignored", "coordinates are not multiplied",
         [](const RopeNd& e, double c, std::size_t i) { return c + e.coordinate_shifts[i]; });
  defect("axial-shift-after-scale", "coordinates are multiplied before they are moved",
         [](const RopeNd& e, double c, std::size_t i) { return e.coordinate_scales[i] * c + e.coordinate_shifts[i]; });
  defect(
      "axial-scale-of-first-axis", "all axes have the first one's scale",
      [](const RopeNd& e, double c, std::size_t i) { return e.coordinate_scales[0] * (c + e.coordinate_shifts[i]); });
  defect(
      "axial-shift-of-first-axis", "all axes have the first one's shift",
      [](const RopeNd& e, double c, std::size_t i) { return e.coordinate_scales[i] * (c + e.coordinate_shifts[0]); });
  defect("axial-scale-twice", "the last axis is multiplied twice", [](const RopeNd& e, double c, std::size_t i) {
    return (i == 1 ? e.coordinate_scales[i] : 1) * e.coordinate_scales[i] * (c + e.coordinate_shifts[i]);
  });
  defect("axial-shift-other-way", "coordinates are moved the other way", [](const RopeNd& e, double c, std::size_t i) {
    return e.coordinate_scales[i] * (c - e.coordinate_shifts[i]);
  });
  defect("axial-scale-divides", "coordinates are divided by the scale", [](const RopeNd& e, double c, std::size_t i) {
    return (c + e.coordinate_shifts[i]) / e.coordinate_scales[i];
  });
  defect("axial-shift-in-patches", "the shift is one of patches", [](const RopeNd& e, double c, std::size_t i) {
    return e.coordinate_scales[i] * (c + 2 * e.coordinate_shifts[i] / static_cast<double>(e.extents[i]));
  });
  defect("axial-scale-before-centring", "coordinates in [0, 1] are multiplied",
         [](const RopeNd& e, double c, std::size_t i) {
           return e.coordinate_scales[i] * (c + 1) - 1 + e.coordinate_scales[i] * e.coordinate_shifts[i];
         });
  defect("axial-moves-clipped", "moved coordinates are kept within [-1, 1]",
         [](const RopeNd& e, double c, std::size_t i) {
           return std::clamp(e.coordinate_scales[i] * (c + e.coordinate_shifts[i]), -1.0, 1.0);
         });
  list.control("axial-moved", "coordinates moved, then multiplied, in float32", jittered);
  list.add(Kind::control, "axial-moved-in-two-steps", "", "a jitter, and then a rescaling of all axes", jittered,
           [](PlainOther& plain) {
             if (plain.axial.coordinates != Coordinates::normalized) return;
             plain.coordinate = [e = with_moves(plain.axial)](std::span<const std::int64_t> place, std::int64_t axis) {
               const auto i = static_cast<std::size_t>(axis);
               const float middle = (static_cast<float>(place[i]) + 0.5F) / static_cast<float>(e.extents[i]);
               const float moved = 2 * middle - 1 + static_cast<float>(e.coordinate_shifts[i]);
               // The product of the two is the claim's scale.
               const float rescale = 1.5F;
               const auto jitter = static_cast<float>(e.coordinate_scales[i] / 1.5);
               return static_cast<double>(static_cast<float>(2 * std::numbers::pi) * (moved * jitter * rescale));
             };
           });
}

// LTX-Video's rotation, by other frequencies or other places.
void rising_defects(PlainOthers& list) {
  const auto another = [&](std::string name, std::string mechanism, void (*change)(RopeNd&)) {
    list.defect(std::move(name), "N15", std::move(mechanism), both_ends, [change](PlainOther& plain) {
      RopeNd encoding = plain.axial;
      change(encoding);
      plain.turn_as(encoding);
    });
  };
  another("axial-rising-falls", "frequencies fall from 1, where they rise to the base",
          [](RopeNd& e) { e.ladder = LadderShape::falling; });
  list.defect("axial-rising-open-end", "N15", "the exponent divides by the pairs, so that the base is not reached",
              both_ends, [](PlainOther& plain) {
                for (Ladder& ladder : plain.ladders.ladders) ladder.rope.head_dim = ladder.rope.rotary_dim;
              });
  list.defect(
      "axial-rising-turned-round", "N15", "the highest frequency comes first", both_ends, [](PlainOther& plain) {
        for (auto& place : plain.ladders.places)
          place.index = pairs(plain.ladders.ladders[static_cast<std::size_t>(place.ladder)].rope) - 1 - place.index;
      });
  another("axial-rising-middles", "the middles of patches, where they were to begin", [](RopeNd& e) {
    if (e.coordinates != Coordinates::index) e.coordinates = Coordinates::normalized;
  });
  another("axial-rising-whole-turn", "whole turns, where quarters were claimed", [](RopeNd& e) {
    for (double& scale : e.coordinate_scales) scale *= 4;
  });
  another("axial-rising-half-turn", "half turns, where quarters were claimed", [](RopeNd& e) {
    for (double& scale : e.coordinate_scales) scale *= 2;
  });
  another("axial-rising-frames-as-patches", "frames are counted in the unit of patches", [](RopeNd& e) {
    if (!e.extents.empty()) e.extents.front() = e.extents.back();
    if (!e.coordinate_shifts.empty()) e.coordinate_shifts.front() = 0;
    if (!e.coordinate_scales.empty()) e.coordinate_scales.front() = e.coordinate_scales.back();
  });
  another("axial-rising-from-zero", "coordinates lie in [0, 1]", [](RopeNd& e) {
    if (e.coordinate_shifts.empty()) return;
    for (double& shift : e.coordinate_shifts) shift = 1;
  });
  another("axial-rising-blocks", "axes in blocks, where they were claimed to alternate",
          [](RopeNd& e) { e.section_order = SectionOrder::blocked; });
  another("axial-rising-padding-behind", "the first channels turn, not the last",
          [](RopeNd& e) { e.rope.rotary_layout = RotaryLayout::prefix; });
}

void controls(PlainOthers& list) {
  list.control("axial-rising", "frequencies up to the base, of quarters of turns", both_ends);
  list.add(Kind::control, "axial-rising-as-released", "", "LTX-Video's own order of operations", both_ends,
           [](PlainOther& plain) {
             // Of the claim's own unit alone; other specs are answered as they say.
             const RopeNd& e = plain.axial;
             if (e.ladder == LadderShape::falling || e.coordinates != Coordinates::normalized_starts ||
                 e.extents != std::vector<std::int64_t>{125, 64, 64} ||
                 e.coordinate_shifts != std::vector<double>{0.5, 0, 0} ||
                 e.coordinate_scales != std::vector<double>{0.5, 0.25, 0.25})
               return;
             plain.coordinate = [](std::span<const std::int64_t> place, std::int64_t axis) {
               const auto p = static_cast<float>(place[static_cast<std::size_t>(axis)]);
               const float grid = axis == 0 ? p * 0.32F / 20 : p * 32 / 2048;
               return static_cast<double>((grid * 2 - 1) * (static_cast<float>(std::numbers::pi) / 2));
             };
           });
  list.control("axial-normalized", "DINOv3's coordinates", normalized);
  list.control("axial-within-axes", "Gemma 4's pairs, within each axis' part", within_axes);
  list.control("axial-per-axis", "each axis its own frequencies", per_axis);
  list.control("axial-by-turns", "axes by turns, columns first", by_turns);
  list.control("axial-columns-first-declared", "blocks, columns first", columns_first);
  list.control("axial-dealt", "one list, dealt out", dealt);
  list.control("axial-own-bases", "each axis its own base", own_bases);
  list.control("axial-partial", "half of the head", partial);
  list.control("axial-last-part", "the last channels of the head", last_part);
  list.control("axial-yarn", "one ramp for all axes", yarn);
  list.control("axial-yarn-per-axis", "a ramp for each axis", yarn_per_axis);
  list.control("axial-dynamic", "frequencies by the longest coordinate", dynamic);
  list.control("attention-axial-columns-first", "queries and keys, columns first", attention);
}

}  // namespace

std::vector<Mutant> all() {
  PlainOthers list;
  defects(list);
  normalized_defects(list);
  moved_defects(list);
  rising_defects(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::axial_mutants
