#include "properties/diagnose/rotations/narrow_positions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lib/numeric/dtype.hpp"
#include "lib/spec/of.hpp"
#include "lib/spec/operation.hpp"
#include "lib/spec/position_grid.hpp"
#include "properties/model/model.hpp"

namespace sextant::identify {
namespace {

// The number that a position becomes, in steps of the claim, and positions that show it. Beyond 2^27 a product with a
// float64 frequency may be off by more than a float32's last place, so that under exact angles none is asked whose
// number is greater. Other classes admit that, and beside 2^32 they may admit nearly any angle: positions from 2^31 on,
// where they admit half as much, are asked too.
struct NarrowFormat {
  std::string words;
  std::function<std::int64_t(std::int64_t count)> of;
  std::vector<std::int64_t> asked;
};

constexpr std::int64_t of_24_bits = std::int64_t{1} << 24;
constexpr std::int64_t of_31_bits = std::int64_t{1} << 31;
constexpr std::int64_t of_32_bits = std::int64_t{1} << 32;

std::int64_t wrapped_at_32_bits(std::int64_t count, std::int64_t least) {
  const std::int64_t moved = (count - least) % of_32_bits;
  return least + (moved < 0 ? moved + of_32_bits : moved);
}

// Steps are powers of two, so that float32 has a position where it has its count.
std::vector<NarrowFormat> narrow_formats(const PositionGrid& grid, AccuracyClass accuracy) {
  const std::string last = grid.text(of_24_bits);
  std::vector<std::int64_t> beyond_24_bits{301, of_24_bits - 1};
  for (std::int64_t power = of_24_bits; power < 8 * of_24_bits; power *= 2) {
    for (const std::int64_t position : {power + 1, power + 3, power + power / 2 + 7, power + power / 4 + 5}) {
      beyond_24_bits.push_back(position);
      beyond_24_bits.push_back(-position);
    }
  }
  std::vector<NarrowFormat> list{
      {fmt::format("positions are rounded to float32: right up to {}", last),
       [](std::int64_t count) {
         return static_cast<std::int64_t>(round_to(Dtype::float32, static_cast<double>(count)));
       },
       beyond_24_bits},
      {fmt::format("positions are cut to float32, toward zero: right up to {}", last),
       [](std::int64_t count) {
         std::int64_t unit = 1;
         while (std::abs(count) / unit >= of_24_bits) unit *= 2;
         return count / unit * unit;
       },
       beyond_24_bits}};
  if (grid.step != 1) return list;
  const bool admits_more = accuracy >= AccuracyClass::float32_angle;
  std::vector<std::int64_t> about_32_bits{5, 301};
  for (std::int64_t times = 1; times <= 8; times *= 2) {
    for (const std::int64_t off : {-100003, -301, -7, 0, 5, 301, 100003})
      about_32_bits.push_back(times * of_32_bits + off);
  }
  if (admits_more) {
    for (const std::int64_t times : {1, 3}) {
      for (const std::int64_t off : {5, 301, 100003, 301 * 100003}) about_32_bits.push_back(times * of_31_bits + off);
    }
  }
  list.push_back(
      {fmt::format("positions are numbers of 32 bits with a sign: {} is taken for -{}", of_31_bits, of_31_bits),
       [](std::int64_t count) { return wrapped_at_32_bits(count, -of_31_bits); }, about_32_bits});
  std::erase_if(about_32_bits,
                [](std::int64_t position) { return position > 301 && wrapped_at_32_bits(position, 0) > of_31_bits; });
  list.push_back({fmt::format("positions are numbers of 32 bits without a sign: {} is taken for 0", of_32_bits),
                  [](std::int64_t count) { return wrapped_at_32_bits(count, 0); }, about_32_bits});
  if (admits_more) {
    list.push_back({fmt::format("positions above {} are clamped to it", of_31_bits - 1),
                    [](std::int64_t count) { return std::min(count, of_31_bits - 1); }, list[2].asked});
  }
  return list;
}

Spec with_places_below_0(Spec spec) {
  spec.min_position = -spec.max_position;
  return spec;
}

}  // namespace

std::optional<DiagnosedDifference> narrow_positions(const Subject& subject, const Spec& claim) {
  const Operation operation = operation_of(claim.encoding);
  const bool is_asked = operation == Operation::encode || operation == Operation::rotate ||
                        operation == Operation::table || operation == Operation::qk_norm_rope;
  const auto model = model_of(claim);
  if (!is_asked || axes_of(claim.encoding) != 1 || model->not_judged() || model->depends_on_length() ||
      model->range().last <= of_24_bits + 1)
    return std::nullopt;
  const auto session = subject.open(claim);
  for (const NarrowFormat& format : narrow_formats(position_grid_of(claim.encoding), claim.accuracy)) {
    std::vector<std::int64_t> positions;
    std::ranges::copy_if(format.asked, std::back_inserter(positions), [&](std::int64_t position) {
      return position >= model->range().first && position < model->range().last;
    });
    Call call = model->call_of(
        {.position = model->range().first, .tokens = std::ssize(positions), .batch = 1, .heads = 1, .fill = 7});
    if (call.positions.size() != positions.size()) continue;
    call.positions = positions;
    Call other = call;
    for (std::int64_t& position : other.positions) position = format.of(position);
    constexpr std::ptrdiff_t fewest = 4;
    const auto moved =
        std::ranges::count_if(positions, [&](std::int64_t position) { return format.of(position) != position; });
    if (moved < fewest) continue;
    Spec spec = claim;
    if (std::ranges::min(other.positions) < claim.min_position) {
      spec = with_places_below_0(spec);
      try {
        validate(spec);
      } catch (const SpecError&) {
        continue;
      }
    }
    const Tensor answer = model->ask(*session, call);
    // Angles of float32 frequencies are off beside: what is left of the error is told by itself.
    constexpr double surely = 0x1p12;
    const Judgement own = model->judge()->values(call, answer);
    const Judgement judged = model_of(spec)->judge()->values(other, answer);
    const bool is_all = judged.within == reference::Certainty::yes;
    const bool is_most = own.deviation.of_bound > surely * std::max(judged.deviation.of_bound, 1.0);
    if (own.within != reference::Certainty::no || (!is_all && !is_most)) continue;
    return DiagnosedDifference{
        fmt::format(
            "{}{}", format.words,
            is_all ? "" : fmt::format("; the rest is computed less exactly than {} allows", name_of(claim.accuracy))),
        "I10", DiagnosedStage::position};
  }
  return std::nullopt;
}

}  // namespace sextant::identify
