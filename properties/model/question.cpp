#include "properties/model/question.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string_view>

#include "lib/numeric/ulp.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/model.hpp"
#include "subjects/operations.hpp"

namespace sextant {

Tensor drawn_table(Dtype dtype, std::int64_t rows, std::int64_t columns, std::int64_t fill) {
  if (fill % tables_of_every_magnitude_in != table_of_every_magnitude)
    return gen::values(dtype, {rows, columns}, fill + 1);
  Tensor table = gen::values_of_every_magnitude(dtype, {rows, columns}, fill + 1, largest_finite(dtype));
  // Nothing is computed of what is looked up: numbers below the normal ones stay, and so does the sign of a zero.
  const double least = ulp(dtype, 0);
  const double special[] = {-0.0, least, -3 * least, 0.0};
  for (std::int64_t i = 2; i < table.elements(); i += 7)
    table.set(i, special[static_cast<std::size_t>(i / 7) % std::size(special)]);
  return table;
}

Tensor ask(Session& session, const Spec& spec, const Question& question) {
  const auto model = model_of(spec);
  return model->ask(session, model->call_of(question));
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.dtype == b.dtype && a.shape == b.shape && a.data == b.data;
}

namespace {

// The axes of an answer, as findings call them.
std::span<const std::string_view> axes_of_answer(Operation operation) {
  static constexpr std::string_view code[] = {"token", "channel"};
  static constexpr std::string_view vectors[] = {"batch row", "token", "head", "channel"};
  static constexpr std::string_view bias[] = {"head", "query", "key"};
  static constexpr std::string_view attention[] = {"batch row", "head", "token", "channel"};
  switch (operation) {
    case Operation::encode:
    case Operation::table: return code;
    case Operation::rotate:
    case Operation::qk_norm_rope: return vectors;
    case Operation::bias: return bias;
    case Operation::attend: return attention;
  }
  throw std::invalid_argument("axes_of_answer: no such operation");
}

// "batch row 0, token 2, head 1, channel 5".
std::string place_text(const Spec& spec, const Tensor& answer, std::int64_t element) {
  const auto axes = axes_of_answer(operation_of(spec.encoding));
  std::vector<std::string> parts(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0; element /= answer.shape[axis])
    parts[axis] = fmt::format("{} {}", axes[axis], element % answer.shape[axis]);
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

std::optional<std::string> first_difference(const Spec& spec, const Tensor& a, const Tensor& b) {
  const std::size_t width = size_of(a.dtype);
  if (a.data.size() == b.data.size() && std::memcmp(a.data.data(), b.data.data(), a.data.size()) == 0)
    return std::nullopt;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const std::size_t at = static_cast<std::size_t>(i) * width;
    if (std::memcmp(a.data.data() + at, b.data.data() + at, width) == 0) continue;
    return fmt::format("{}: {}, then {}", place_text(spec, a, i), value_text(a.dtype, a.at(i)),
                       value_text(b.dtype, b.at(i)));
  }
  return std::nullopt;
}

std::int64_t last_position_of(const Spec& spec) { return model_of(spec)->range().last; }

std::optional<std::string> depends_on_length(const Spec& spec) { return model_of(spec)->depends_on_length(); }

std::optional<std::string> accuracy_not_stated(const Spec& spec) { return model_of(spec)->not_judged(); }

namespace {

// A position, wrapped round at both ends of the range.
std::int64_t wrapped(const gen::PositionRange& range, std::int64_t position) {
  const std::int64_t width = range.last - range.first;
  const std::int64_t place = (position - range.first) % width;
  return range.first + (place < 0 ? place + width : place);
}

}  // namespace

std::vector<std::int64_t> positions_of(const Spec& spec, const Question& question, std::int64_t batch) {
  const gen::PositionRange range = model_of(spec)->range();
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis) {
    for (std::int64_t row = 0; row < batch; ++row) {
      for (std::int64_t token = 0; token < question.tokens; ++token) {
        positions.push_back(wrapped(range, question.position + token + 7 * row + 3 * axis));
      }
    }
  }
  return positions;
}

std::vector<std::int64_t> positions_of(const Spec& spec, const Chunk& chunk, std::int64_t skip, std::int64_t count) {
  const gen::PositionRange range = model_of(spec)->range();
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis) {
    for (std::int64_t i = skip; i < skip + count; ++i)
      positions.push_back(wrapped(range, chunk.position + (axis + 1) * i + 5 * axis));
  }
  return positions;
}

std::vector<std::int64_t> scattered_positions(const Spec& spec, std::int64_t first, std::int64_t count) {
  const gen::PositionRange range = model_of(spec)->range();
  std::vector<std::int64_t> positions;
  for (std::int64_t axis = 0; axis < axes_of(spec.encoding); ++axis) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t step = (i + axis) % 5;
      positions.push_back(wrapped(range, first + step * step * 7 * i + 3 * axis));
    }
  }
  return positions;
}

std::vector<std::int64_t> place_at(std::span<const std::int64_t> positions, std::int64_t count, std::int64_t i) {
  std::vector<std::int64_t> place;
  for (; i < std::ssize(positions); i += count) place.push_back(positions[static_cast<std::size_t>(i)]);
  return place;
}

std::string text_of_place(const PositionGrid& grid, std::span<const std::int64_t> place) {
  std::vector<std::string> coordinates;
  for (const std::int64_t count : place) coordinates.push_back(grid.text(count));
  return fmt::format("{}", fmt::join(coordinates, "/"));
}

}  // namespace sextant
