// The sinusoidal encoder's calls.
//
//   1. A plan, made once, has frequencies in turns and the rotations of small steps.
//   2. Rows are divided into strips, by the table alone, so that `fast` does not depend on threads; each strip begins
//      with exact phases (strip-inl.h) and is independent of the others.
//   3. An odd dim's last channel is cleared before, and lies between the rows to the kernels.
//
// docs/proofs/sinusoidal-rows.md has the bounds, docs/proofs/quick-certificate.md the rounding.

#include "lib/sinusoidal/sinusoidal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "lib/kernels/checks.hpp"
#include "lib/kernels/table_rows.hpp"
#include "lib/kernels/targets.hpp"
#include "lib/numeric/domains.hpp"
#include "lib/numeric/standard_arithmetic.hpp"
#include "lib/sinusoidal/plan.hpp"

namespace sextant {
namespace {

constexpr const char* encode_name = "SinusoidalEncoder::encode";

constexpr std::int64_t position_limit = std::int64_t{1} << 54;

std::vector<Turns> frequencies_of(const Sinusoidal& encoding, const CountUnit& unit) {
  Spec spec;
  spec.encoding = encoding;
  validate(spec);
  const std::int64_t count = pairs(encoding);
  return geometric_turns(encoding.base, 1, count - encoding.downscale_freq_shift, count, unit,
                         angles_per_step(encoding));
}

// The last channel of an odd dim.
void clear_padding(const Rows& out) {
  for_each_row(out, [&](std::int64_t, std::byte* row) {
    store(out.dtype, 0, row + static_cast<std::size_t>(out.width - 1) * size_of(out.dtype));
  });
}

void check_position(std::int64_t position, std::int64_t offset) {
  // The offset is within 2^53, so that the sum does not overflow once the position is within 2^54.
  if (position < -position_limit || position > position_limit || std::abs(position + offset) > position_limit) {
    throw std::out_of_range(
        fmt::format("positions: {} with position_offset {} is outside of -2^54 to 2^54", position, offset));
  }
}

// Long enough for an exact phase to cost little (blocks of 127 rows follow it at a turn each), short enough to share
// among threads. A function of the table alone, so that results of Rounding::fast do not depend on the threads either.
std::int64_t strip_rows(std::int64_t rows) {
  const std::int64_t blocks = rows >= 65536 ? 16 : rows >= 16384 ? 8 : 2;
  return blocks * 127;
}

// Each strip is independent of the others.
void encode_rows(const SinusoidalPlan& plan, Strip whole) {
  const std::int64_t rows = whole.last_row;
  if (padding_channel(plan.encoding)) {
    // To the kernels it lies between the rows.
    clear_padding(whole.out);
    --whole.out.width;
  }
  const std::int64_t step = strip_rows(rows);
  const std::int64_t strips = (rows + step - 1) / step;
  bool decided = true;
#pragma omp parallel reduction(&& : decided) if (rows * whole.out.width > 32768)
  {
    const StandardArithmetic arithmetic;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < strips; ++i) {
      Strip strip = whole;
      strip.first_row = i * step;
      strip.last_row = std::min(rows, strip.first_row + step);
      decided = encode_strip(plan, strip) && decided;
    }
  }
  if (!decided) throw std::domain_error("SinusoidalEncoder: a value stays undecided at 5000 bits");
}

Strip strip_of(const Rows& out, Rounding rounding) {
  const auto bytes = out.rows * out.row_stride * static_cast<std::int64_t>(size_of(out.dtype));
  return {nullptr, 0, 0, 0, 0, out.rows, out, rounding, caching_of(bytes)};
}

}  // namespace

SinusoidalPlan sinusoidal_plan(const Sinusoidal& encoding, const CountUnit& unit) {
  target_in_use();  // before the first dispatch
  const StandardArithmetic arithmetic;
  SinusoidalPlan plan;
  plan.frequencies = FrequencyPieces(frequencies_of(encoding, unit));
  plan.encoding = encoding;
  plan.unit = unit;
  plan.block = std::clamp<std::int64_t>((std::int64_t{1} << 18) / pairs(encoding), 1, 64);
  const std::size_t entries = plan.step_at(plan.block + 1, 0);
  plan.step_high.resize(entries);
  plan.step_low.resize(entries);
  plan.step_single.resize(plan.single_step_at(plan.block, 0));
  fill_steps(plan);
  return plan;
}

SinusoidalEncoder::SinusoidalEncoder(const Sinusoidal& encoding) : SinusoidalEncoder(encoding, CountUnit{}) {}

SinusoidalEncoder::SinusoidalEncoder(const Sinusoidal& encoding, const CountUnit& unit)
    : plan_(std::make_shared<const SinusoidalPlan>(sinusoidal_plan(encoding, unit))) {}

std::int64_t SinusoidalEncoder::dim() const { return plan_->encoding.dim; }

void SinusoidalEncoder::encode(std::span<const std::int64_t> positions, const Rows& out, Rounding rounding) const {
  check_rounding(encode_name, rounding);
  check_table(out, std::ssize(positions), dim());
  for (const std::int64_t position : positions) check_position(position, plan_->encoding.position_offset);
  if (positions.empty()) return;
  Strip strip = strip_of(out, rounding);
  strip.list = positions.data();
  strip.offset = plan_->encoding.position_offset;
  encode_rows(*plan_, strip);
}

void SinusoidalEncoder::encode(const PositionRange& positions, const Rows& out, Rounding rounding) const {
  check_rounding(encode_name, rounding);
  if (positions.count < 0) throw std::invalid_argument(fmt::format("positions: count {} is negative", positions.count));
  check_table(out, positions.count, dim());
  if (positions.count == 0) return;
  check_position(positions.first, plan_->encoding.position_offset);
  // The last position, if it can be computed: first is within 2^54, so that it cannot where the steps span more than
  // 2^56.
  const std::int64_t steps = positions.count - 1;
  constexpr std::int64_t span = std::int64_t{1} << 56;
  const bool too_far =
      steps > 0 && positions.step != 0 && (positions.step > span / steps || positions.step < -(span / steps));
  if (too_far)
    throw std::out_of_range(fmt::format("positions: {} steps of {} leave -2^54 to 2^54", steps, positions.step));
  check_position(positions.first + steps * positions.step, plan_->encoding.position_offset);
  Strip strip = strip_of(out, rounding);
  strip.first = positions.first + plan_->encoding.position_offset;
  strip.step = positions.step;
  encode_rows(*plan_, strip);
}

Tensor SinusoidalEncoder::encode(std::span<const std::int64_t> positions, Dtype dtype, Rounding rounding) const {
  check_floating(encode_name, dtype);
  const auto rows = static_cast<std::int64_t>(positions.size());
  Tensor table = Tensor::zeros(dtype, {rows, dim()});
  encode(positions, {dtype, table.data.data(), rows, dim(), dim()}, rounding);
  return table;
}

}  // namespace sextant
