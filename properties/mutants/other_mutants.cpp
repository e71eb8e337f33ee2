#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numbers>
#include <span>
#include <utility>

#include "lib/spec/spec.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_others.hpp"
#include "reference/relative_bias.hpp"

// Mutants of every encoding but sinusoidal and rope: small variants of plain_others.hpp.

namespace sextant::mutants::other_mutants {
namespace {

constexpr const char* alibi_12 = R"({"encoding":"alibi","num_heads":12,"max_position":8192})";
constexpr const char* alibi_12_geometric =
    R"({"encoding":"alibi","num_heads":12,"slopes":"geometric","max_position":8192})";
constexpr const char* alibi_steep = R"({"encoding":"alibi","num_heads":12,"bias_max":16,"max_position":8192})";
constexpr const char* alibi_71 = R"({"encoding":"alibi","num_heads":71,"slopes":"geometric","max_position":2048})";
constexpr const char* alibi_bfloat16 =
    R"({"encoding":"alibi","num_heads":71,"slopes":"geometric","slope_dtype":"bfloat16","max_position":128})";
// With distances that bfloat16 rounds.
constexpr const char* alibi_bfloat16_far =
    R"({"encoding":"alibi","num_heads":71,"slopes":"geometric","slope_dtype":"bfloat16","max_position":512})";
constexpr const char* alibi_8 = R"({"encoding":"alibi","num_heads":8,"max_position":8192})";
constexpr const char* t5 = R"({"encoding":"relative_bias","max_position":4096})";
constexpr const char* t5_decoder = R"({"encoding":"relative_bias","bidirectional":false,"max_position":4096})";
constexpr const char* t5_mirrored =
    R"({"encoding":"relative_bias","bidirectional":false,"later_keys":"mirrored","max_position":4096})";
constexpr const char* binary = R"({"encoding":"binary","dim":12})";
constexpr const char* integer = R"({"encoding":"integer","normalize":true,"max_position":4096})";
constexpr const char* count = R"({"encoding":"integer","dim":2,"max_position":4096})";
constexpr const char* learned = R"({"encoding":"learned","dim":8,"max_positions":50})";
constexpr const char* grid = R"({"encoding":"sinusoidal_2d","dim":32,"height":9,"width":14})";
constexpr const char* axial = R"({"encoding":"rope_nd","head_dim":32,"sections":[4,6,6],"max_position":4096})";
constexpr const char* xpos = R"({"encoding":"xpos","head_dim":32,"pairing":"interleaved","max_position":2048})";
constexpr const char* plain_attention =
    R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"max_position":4096})";
constexpr const char* causal_attention =
    R"({"encoding":"attention","num_heads":4,"num_kv_heads":2,"head_dim":16,"causal":true,"max_position":4096})";
constexpr const char* rope_attention = R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":4096,)"
                                       R"("position":{"encoding":"rope","head_dim":16}})";
constexpr const char* axial_attention = R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":4096,)"
                                        R"("position":{"encoding":"rope_nd","head_dim":16,"sections":[2,3,3]}})";
constexpr const char* xpos_attention = R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":2048,)"
                                       R"("position":{"encoding":"xpos","head_dim":16,"pairing":"interleaved"}})";
constexpr const char* alibi_attention = R"({"encoding":"attention","num_heads":4,"head_dim":16,"causal":true,)"
                                        R"("max_position":4096,"position":{"encoding":"alibi","num_heads":4}})";
constexpr const char* t5_attention = R"({"encoding":"attention","num_heads":2,"head_dim":16,"max_position":4096,)"
                                     R"("position":{"encoding":"relative_bias"}})";

using List = PlainOthers;

void bias_mutants(List& list) {
  list.defect("alibi-exponent-from-zero", "L2", "heads are counted from 0 in the exponent: the first slope is 1",
              alibi_8, [](PlainOther& plain) {
                plain.slope = [](std::int64_t head, std::int64_t heads) {
                  return std::exp2(-8.0 * static_cast<double>(head) / static_cast<double>(heads));
                };
              });
  list.defect("alibi-naive-slopes", "L1,L4", "one geometric series for a number of heads that is no power of two",
              alibi_12, [](PlainOther& plain) { plain.slope = geometric_slope; });
  list.defect("alibi-released-undeclared", "L1,L3", "the released code's slopes, though one series was claimed",
              alibi_12_geometric, [](PlainOther& plain) { plain.slope = released_slope; });
  list.defect("alibi-sorted-slopes", "L3,L11", "the slopes of 12 heads are sorted", alibi_12, [](PlainOther& plain) {
    plain.slope = [own = plain.slope](std::int64_t head, std::int64_t heads) {
      std::vector<double> slopes;
      for (std::int64_t h = 0; h < heads; ++h) slopes.push_back(own(h, heads));
      std::ranges::sort(slopes, std::greater<>());
      return slopes[static_cast<std::size_t>(head)];
    };
  });
  list.defect("alibi-local-heads", "L5", "slopes are those of half the heads, as on one of two ranks", alibi_8,
              [](PlainOther& plain) {
                plain.slope = [own = plain.slope](std::int64_t head, std::int64_t heads) {
                  return own(head % (heads / 2), heads / 2);
                };
              });
  list.defect("alibi-sign", "L6", "the bias rewards distance", alibi_8, [](PlainOther& plain) {
    plain.slope = [own = plain.slope](std::int64_t head, std::int64_t heads) { return -own(head, heads); };
  });
  list.defect("alibi-bfloat16-product", "L8,L9", "slope times distance is formed in bfloat16", alibi_12,
              [](PlainOther& plain) { plain.finish = [](double value) { return round_to(Dtype::bfloat16, value); }; });
  list.defect("alibi-top-left", "L10,L7", "distances are counted from the first query, not from its position", alibi_8,
              [](PlainOther& plain) {
                plain.query_position = [](const std::vector<std::int64_t>&, std::size_t query) {
                  return static_cast<std::int64_t>(query);
                };
              });
  list.defect("alibi-key-index", "L6", "the key's position alone, though distances were claimed", alibi_8,
              [](PlainOther& plain) {
                plain.distance = [](std::int64_t, std::int64_t key) { return static_cast<double>(-key); };
              });
  list.defect("alibi-clamped", "K15", "distances beyond 1023 count as that", alibi_8, [](PlainOther& plain) {
    plain.distance = [own = plain.distance](std::int64_t query, std::int64_t key) {
      return std::min(own(query, key), 1023.0);
    };
  });
  list.defect("alibi-wrapped", "I10", "distances wrap at 8 bits", alibi_8, [](PlainOther& plain) {
    plain.distance = [own = plain.distance](std::int64_t query, std::int64_t key) {
      return std::fmod(own(query, key), 256.0);
    };
  });
  list.defect(
      "alibi-slope-dtype-undeclared", "L13", "slopes are bfloat16's, though real ones were claimed", alibi_71,
      [](PlainOther& plain) { plain.round_slope = [](double slope) { return round_to(Dtype::bfloat16, slope); }; });
  list.defect("alibi-slopes-unrounded", "L13", "slopes are real numbers, though bfloat16's were claimed",
              alibi_bfloat16, [](PlainOther& plain) { plain.round_slope = [](double slope) { return slope; }; });
  list.defect("alibi-slopes-rounded-twice", "L13", "slopes are rounded to float16 before bfloat16", alibi_bfloat16,
              [](PlainOther& plain) {
                plain.round_slope = [](double slope) {
                  return round_to(Dtype::bfloat16, round_to(Dtype::float16, slope));
                };
              });
  list.defect("alibi-slopes-toward-zero", "L13", "slopes lose the last bits of a float32 instead of being rounded",
              alibi_bfloat16, [](PlainOther& plain) {
                plain.round_slope = [](double slope) {
                  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(slope));
                  return static_cast<double>(std::bit_cast<float>(bits & 0xFFFF0000U));
                };
              });
  list.defect(
      "alibi-slopes-of-float16", "L13", "slopes are float16's, though bfloat16's were claimed", alibi_bfloat16,
      [](PlainOther& plain) { plain.round_slope = [](double slope) { return round_to(Dtype::float16, slope); }; });
  list.defect("alibi-distances-rounded-too", "L13,A13", "distances are rounded to bfloat16 as slopes are",
              alibi_bfloat16_far, [](PlainOther& plain) {
                plain.distance = [own = plain.distance](std::int64_t query, std::int64_t key) {
                  return round_to(Dtype::bfloat16, own(query, key));
                };
              });
  list.defect("alibi-first-slope-rounded", "L13", "powers of the rounded first slope, not rounded powers of it",
              alibi_bfloat16, [](PlainOther& plain) {
                plain.slope = [](std::int64_t head, std::int64_t heads) {
                  return std::pow(round_to(Dtype::bfloat16, geometric_slope(0, heads)), static_cast<double>(head + 1));
                };
              });
  list.defect("t5-no-clamp", "M3", "far keys are not clamped to the last bucket", t5, [](PlainOther& plain) {
    plain.bucket = [own = plain.bucket, e = plain.relative](std::int64_t relative) {
      return std::abs(relative) > e.max_distance ? own(relative) - 1 : own(relative);
    };
  });
  list.defect("t5-sign", "M10", "the sign of key - query is flipped", t5, [](PlainOther& plain) {
    plain.bucket = [own = plain.bucket](std::int64_t relative) { return own(-relative); };
  });
  list.defect("t5-one-direction", "M2", "keys after the query share the buckets of those before", t5,
              [](PlainOther& plain) {
                plain.bucket = [own = plain.bucket](std::int64_t relative) { return own(-std::abs(relative)); };
              });
  list.defect("t5-halved-twice", "M4", "the number of buckets is halved once more", t5, [](PlainOther& plain) {
    plain.bucket = [own = plain.bucket](std::int64_t relative) { return own(relative) / 2; };
  });
  list.defect("t5-strict-border", "G10", "a distance at the border of a bucket falls into the one before", t5_decoder,
              [](PlainOther& plain) {
                plain.bucket = [own = plain.bucket](std::int64_t relative) {
                  return relative < -16 ? own(relative + 1) : own(relative);
                };
              });
  list.defect("t5-later-keys-mirrored", "M15", "keys after the query have their distance's bucket, not that of 0",
              t5_decoder, [](PlainOther& plain) {
                plain.bucket = [own = plain.bucket](std::int64_t relative) { return own(-std::abs(relative)); };
              });
  list.defect("t5-later-keys-at-zero", "M15", "keys after the query have distance 0, though their own was claimed",
              t5_mirrored, [](PlainOther& plain) {
                plain.bucket = [own = plain.bucket](std::int64_t relative) {
                  return own(std::min<std::int64_t>(relative, 0));
                };
              });
  list.defect("t5-single-query-skipped", "M5", "a single query gets no bias", t5,
              [](PlainOther& plain) { plain.skip_single_query = true; });
  list.defect("t5-heads-swapped", "C3", "the heads' weights are read in reverse", t5, [](PlainOther& plain) {
    plain.head_of = [](std::int64_t head, std::int64_t heads) { return heads - 1 - head; };
  });
}

// Right under the spec as it is, and deaf to one of its fields.
void deaf_mutants(List& list) {
  list.defect("integer-normalize-ignored", "D3,N7", "normalize is not read", count,
              [](PlainOther& plain) { plain.last_position = 1; });
  list.defect("grid-order-ignored", "N4", "axis_order is not read", grid,
              [](PlainOther& plain) { plain.axis_of_half = [](std::int64_t half) { return half; }; });
  list.defect("alibi-mask-ignored", "C2", "mask is not read: distances are negative for keys after the query", alibi_8,
              [](PlainOther& plain) {
                plain.distance = [](std::int64_t query, std::int64_t key) { return static_cast<double>(query - key); };
              });
  list.defect("alibi-slopes-ignored", "C2", "slopes is not read: those of the released code, whatever the spec says",
              alibi_12, [](PlainOther& plain) { plain.slope = released_slope; });
  list.defect("alibi-bias-max-ignored", "C2", "bias_max is not read: the exponents end at 8", alibi_12,
              [](PlainOther& plain) { plain.bias_max = 8; });
  list.defect("alibi-bias-max-undeclared", "L12", "exponents end at 8, though 16 was claimed", alibi_steep,
              [](PlainOther& plain) { plain.bias_max = 8; });
  list.defect("alibi-slope-dtype-ignored", "C2,L13", "slope_dtype is not read: slopes are not rounded", alibi_71,
              [](PlainOther& plain) { plain.round_slope = [](double slope) { return slope; }; });
  list.defect("t5-direction-ignored", "M2,D3", "bidirectional is not read", t5, [](PlainOther& plain) {
    plain.bucket = [e = plain.relative](std::int64_t relative) {
      RelativeBias both = e;
      both.bidirectional = true;
      return reference::bucket(both, relative);
    };
  });
  list.defect("t5-later-keys-ignored", "M2,D3", "later_keys is not read: keys after the query have distance 0",
              t5_decoder, [](PlainOther& plain) {
                plain.bucket = [e = plain.relative](std::int64_t relative) {
                  RelativeBias at_zero = e;
                  at_zero.later_keys = LaterKeys::at_zero;
                  return reference::bucket(at_zero, relative);
                };
              });
  list.defect("axial-sections-ignored", "N9,D1", "sections are a model's own, whatever the spec says", axial,
              [](PlainOther& plain) {
                plain.axis_of_pair = [](std::int64_t pair) { return pair < 4 ? 0 : pair < 10 ? 1 : 2; };
              });
  list.defect("xpos-role-ignored", "O4", "role is not read", xpos, [](PlainOther& plain) { plain.scale_sign = 1; });
  list.defect("attention-causal-ignored", "L6,C2", "causal is not read", plain_attention,
              [](PlainOther& plain) { plain.seen_ahead = 1 << 20; });
}

void code_mutants(List& list) {
  list.defect("binary-most-significant-first", "C2", "the digits stand in the other order", binary,
              [](PlainOther& plain) {
                plain.channel_of = [](std::int64_t channel, std::int64_t dim) { return dim - 1 - channel; };
              });
  list.defect("binary-gray", "K7", "a reflected code instead of the digits", binary,
              [](PlainOther& plain) { plain.position = [](std::int64_t p) { return p ^ (p >> 1); }; });
  list.defect("binary-wrapped", "K15", "positions beyond the digits wrap", binary,
              [](PlainOther& plain) { plain.refuses_beyond = false; });
  list.defect("integer-by-length", "N7", "normalised by the number of positions instead of the last one", integer,
              [](PlainOther& plain) { plain.last_position += 1; });
  list.defect("integer-not-normalised", "N7", "the normalisation is left out", integer,
              [](PlainOther& plain) { plain.last_position = 1; });
  list.defect("integer-constant-step", "A13", "positions are rounded to multiples of 8 beyond 1024", count,
              [](PlainOther& plain) { plain.position = [](std::int64_t p) { return p < 1024 ? p : p / 8 * 8; }; });
  list.defect("integer-clamped", "K15", "positions beyond 1000 count as that", count, [](PlainOther& plain) {
    plain.position = [](std::int64_t p) { return std::min<std::int64_t>(p, 1000); };
  });
  list.defect("integer-sine", "K1", "a bounded code where an unbounded one was claimed", count,
              [](PlainOther& plain) { plain.finish = [](double value) { return std::sin(value); }; });
  list.defect("learned-shifted", "K11", "rows are read two further on", learned, [](PlainOther& plain) {
    plain.position = [](std::int64_t p) { return std::min<std::int64_t>(p + 2, 49); };
  });
  list.defect("learned-clamped", "K15", "rows beyond the table are its last", learned, [](PlainOther& plain) {
    plain.refuses_beyond = false;
    plain.position = [](std::int64_t p) { return std::min<std::int64_t>(p, 49); };
  });
  list.defect("learned-slice", "K10,H9", "a lookup is taken for a slice from the first position", learned,
              [](PlainOther& plain) { plain.consecutive = true; });
  list.defect("learned-gradient-overwritten", "J2", "the gradient keeps a row's last use only", learned,
              [](PlainOther& plain) { plain.gradient = PlainOther::Gradient::overwritten; });
  list.defect("learned-gradient-zero", "J2", "the gradient is zero", learned,
              [](PlainOther& plain) { plain.gradient = PlainOther::Gradient::zero; });
  list.defect("grid-axes-swapped", "N1,K13", "rows and columns change places", grid,
              [](PlainOther& plain) { plain.axis_of_half = [](std::int64_t half) { return 1 - half; }; });
  list.defect("grid-one-axis", "M11", "both halves have the row's code", grid,
              [](PlainOther& plain) { plain.axis_of_half = [](std::int64_t) { return 0; }; });
  list.defect("grid-full-width-exponent", "D4", "the exponent is divided by the whole width", grid,
              [](PlainOther& plain) { plain.exponent_width *= 2; });
}

void rotation_mutants(List& list) {
  list.defect("axial-interleaved", "N5", "axes alternate, where blocks were claimed", axial,
              [](PlainOther& plain) { plain.axis_of_pair = [](std::int64_t pair) { return pair % 3; }; });
  list.defect("axial-first-axis", "N8,N10", "all pairs turn by the first axis", axial,
              [](PlainOther& plain) { plain.axis_of_pair = [](std::int64_t) { return 0; }; });
  list.defect("axial-sections-shifted", "N9", "the sections are split in another order", axial, [](PlainOther& plain) {
    plain.axis_of_pair = [](std::int64_t pair) { return pair < 6 ? 0 : pair < 12 ? 1 : 2; };
  });
  list.defect("axial-section-exponents", "D4", "each axis starts its frequencies anew", axial, [](PlainOther& plain) {
    for (std::int64_t i = 4; i < 16; ++i) plain.ladders.places[static_cast<std::size_t>(i)].index = (i - 4) % 6;
  });
  list.defect("axial-bfloat16-positions", "A1,A13", "positions along each axis are rounded to bfloat16", axial,
              [](PlainOther& plain) {
                plain.coordinate = [](std::span<const std::int64_t> place, std::int64_t axis) {
                  return round_to(Dtype::bfloat16, static_cast<double>(place[static_cast<std::size_t>(axis)]));
                };
              });
  list.defect("axial-flattened", "M9,N4", "the second axis turns by a flattened index of the first two", axial,
              [](PlainOther& plain) {
                plain.coordinate = [own = plain.coordinate](std::span<const std::int64_t> place, std::int64_t axis) {
                  return own(place, axis) + (axis == 1 ? 16 * own(place, 0) : 0);
                };
              });
  list.defect("axial-one-row-for-all", "H6,I2", "every batch row has the first row's positions", axial,
              [](PlainOther& plain) { plain.first_batch_positions = true; });
  list.defect("xpos-swapped-roles", "O4", "queries shrink and keys grow", xpos,
              [](PlainOther& plain) { plain.scale_sign = -1; });
  list.defect("xpos-tiled-scale", "O1", "the two members of a pair have different scales", xpos, [](PlainOther& plain) {
    plain.pair_in_scale = [](std::int64_t pair, bool is_second) { return is_second ? (pair + 3) % 16 : pair; };
  });
  list.defect("xpos-local-index", "O3", "the scale's exponent counts from the call's start", xpos,
              [](PlainOther& plain) { plain.scale_from_call = true; });
  list.defect("xpos-scale-base-ignored", "D1", "the scale's base is 512 whatever the spec says",
              R"({"encoding":"xpos","head_dim":32,"pairing":"interleaved","scale_base":64,"max_position":2048})",
              [](PlainOther& plain) { plain.scale_base = 512; });
}

void attention_mutants(List& list) {
  list.defect("attention-unscaled", "F5", "scores are not divided by the root of head_dim", plain_attention,
              [](PlainOther& plain) { plain.score_scale = 1; });
  list.defect("attention-other-kv-head", "C3,C4", "query heads read the key heads in turn, not in groups",
              plain_attention, [](PlainOther& plain) {
                plain.kv_head_of = [](std::int64_t head, std::int64_t, std::int64_t kv_heads) {
                  return head % kv_heads;
                };
              });
  list.defect("attention-not-normalised", "L9", "weights are divided by the number of keys", plain_attention,
              [](PlainOther& plain) { plain.normalise = false; });
  list.defect("attention-float16-weights", "A9", "weights are kept in float16 for float32 values", plain_attention,
              [](PlainOther& plain) { plain.weight_dtype = Dtype::float16; });
  list.defect("attention-mask-off-by-one", "H4", "a query sees one key more than the causal mask allows",
              causal_attention, [](PlainOther& plain) { plain.seen_ahead = 1; });
  list.defect("attention-mask-forgotten", "L6", "the causal mask is forgotten", causal_attention,
              [](PlainOther& plain) { plain.seen_ahead = 1 << 20; });
  list.defect("attention-no-position", "D11,M5", "rope was asked for and is left out", rope_attention,
              [](PlainOther& plain) { plain.use_position = false; });
  list.defect("attention-key-unrotated", "H10,I14", "queries are rotated, keys are not", rope_attention,
              [](PlainOther& plain) { plain.rotate_keys = false; });
  list.defect("attention-place-for-position", "H6,H9", "a token's place is taken for its position", rope_attention,
              [](PlainOther& plain) { plain.places = true; });
  list.defect("attention-position-unasked", "M1", "a bias by the key's place, where no position was asked for",
              plain_attention, [](PlainOther& plain) { plain.unasked_bias = 0.125; });
  list.defect("attention-alibi-on-values", "L6", "the bias of alibi is halved", alibi_attention,
              [](PlainOther& plain) { plain.bias_scale = 0.5; });
  list.defect("attention-axial-first-axis", "N8,N10", "all pairs turn by the first axis", axial_attention,
              [](PlainOther& plain) { plain.axis_of_pair = [](std::int64_t) { return 0; }; });
  list.defect("attention-xpos-one-role", "O4", "keys are scaled as queries are", xpos_attention,
              [](PlainOther& plain) { plain.one_role = true; });
  list.defect("attention-t5-dropped", "M5", "the relative bias is skipped", t5_attention,
              [](PlainOther& plain) { plain.bias_scale = 0; });
  list.defect("attention-first-batch-row", "I1,I21", "every batch row reads the keys of the first", plain_attention,
              [](PlainOther& plain) { plain.first_batch_keys = true; });
}

void controls(List& list) {
  list.control("alibi-plain", "slopes of the released code for 12 heads, which are not sorted", alibi_12);
  list.control("alibi-geometric-declared", "one geometric series for 12 heads, declared", alibi_12_geometric);
  list.control("alibi-bias-max-declared", "exponents that end at 16, declared", alibi_steep);
  list.control("alibi-slopes-of-bfloat16-declared", "slopes of bfloat16, declared", alibi_bfloat16);
  list.control("alibi-slopes-of-float32-declared", "slopes of float32, 2 to exponents of float32, declared",
               R"({"encoding":"alibi","num_heads":71,"slopes":"geometric","slope_dtype":"float32","max_position":128})",
               [](PlainOther& plain) {
                 plain.slope = [own = plain.slope](std::int64_t head, std::int64_t heads) {
                   const auto exponent = static_cast<float>(std::log2(own(head, heads)));
                   return static_cast<double>(std::exp2(exponent));
                 };
               });
  list.control("alibi-key-index-declared", "BLOOM's form, declared",
               R"({"encoding":"alibi","num_heads":8,"form":"key_index","max_position":2048})");
  list.control("alibi-symmetric-declared", "both directions",
               R"({"encoding":"alibi","num_heads":8,"mask":"symmetric","max_position":2048})");
  list.control("t5-plain", "both directions", t5);
  list.control("t5-decoder", "one direction", t5_decoder);
  list.control("t5-later-keys-mirrored-declared", "ONNX Runtime's keys after the query, declared", t5_mirrored);
  list.control("binary-plain", "digits", binary);
  list.control("integer-plain", "normalised", integer);
  list.control("integer-count", "not normalised", count);
  list.control("learned-plain", "a lookup", learned);
  list.control("grid-plain", "a grid that is not square", grid);
  list.control("grid-width-first", "MAE's order, declared",
               R"({"encoding":"sinusoidal_2d","dim":32,"height":9,"width":14,)"
               R"("axis_order":"width_first","layout":"concatenated"})");
  list.control("axial-plain", "three axes in blocks", axial);
  list.control("xpos-plain", "a query", xpos);
  list.control("xpos-key", "a key",
               R"({"encoding":"xpos","head_dim":32,"pairing":"interleaved","role":"key","max_position":2048})");
  list.control("attention-plain", "grouped queries, no position", plain_attention);
  list.control("attention-causal", "the same, causal", causal_attention);
  list.control("attention-rope", "rotated queries and keys", rope_attention);
  list.control("attention-axial", "several axes", axial_attention);
  list.control("attention-xpos", "queries and keys in their roles", xpos_attention);
  list.control("attention-alibi", "a bias by distance", alibi_attention);
  list.control("attention-t5", "a learned bias", t5_attention);
}

}  // namespace

std::vector<Mutant> all() {
  List list;
  bias_mutants(list);
  deaf_mutants(list);
  code_mutants(list);
  rotation_mutants(list);
  attention_mutants(list);
  controls(list);
  return std::move(list.entries);
}

}  // namespace sextant::mutants::other_mutants
