#include "properties/model/rotations.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "lib/numeric/ulp.hpp"
#include "properties/gen/placement.hpp"
#include "properties/gen/values.hpp"
#include "properties/model/cell_questions.hpp"
#include "properties/model/questions.hpp"
#include "properties/model/reshaped.hpp"
#include "properties/model/rotation_judge.hpp"
#include "subjects/operations.hpp"

namespace sextant {
namespace {

// The vectors of one head, in as many.
Tensor in_heads(const Tensor& one, std::int64_t heads) {
  std::vector<std::int64_t> shape = one.shape;
  shape[2] = heads;
  Tensor all = Tensor::zeros(one.dtype, std::move(shape));
  const std::size_t bytes = static_cast<std::size_t>(one.shape[3]) * size_of(one.dtype);
  for (std::size_t from = 0, to = 0; from < one.data.size(); from += bytes) {
    for (std::int64_t head = 0; head < heads; ++head, to += bytes)
      std::memcpy(all.data.data() + to, one.data.data() + from, bytes);
  }
  return all;
}

// Tokens [first, first + count) of vectors of one batch row.
Tensor slice(const Tensor& x, std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> shape = x.shape;
  const auto row_bytes = static_cast<std::ptrdiff_t>(x.data.size()) / shape[1];
  shape[1] = count;
  const auto begin = x.data.begin() + first * row_bytes;
  return {x.dtype, std::move(shape), {begin, begin + count * row_bytes}};
}

Tensor special(Dtype dtype, const gen::Extents& extents, std::int64_t head_dim) {
  const double largest = largest_finite(dtype);
  const double values[] = {-0.0, 1, INFINITY, -largest, NAN, 0.0, -INFINITY, largest, ulp(dtype, 0)};
  Tensor x = Tensor::zeros(dtype, {extents.batch, extents.tokens, extents.heads, head_dim});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, values[static_cast<std::size_t>(i) % std::size(values)]);
  return x;
}

Tensor all_ones(Dtype dtype, const gen::Extents& extents, std::int64_t head_dim) {
  Tensor x = Tensor::zeros(dtype, {extents.batch, extents.tokens, extents.heads, head_dim});
  for (std::int64_t i = 0; i < x.elements(); ++i) x.set(i, 1);
  return x;
}

}  // namespace

Tensor RotationModel::drawn(const gen::Extents& extents, std::int64_t fill) const {
  return gen::values(spec().dtype, {extents.batch, extents.tokens, extents.heads, head_dim_}, fill);
}

std::vector<gen::PositionRange> RotationModel::axis_ranges() const {
  const gen::PositionRange claim = gen::range_of(spec());
  std::vector<gen::PositionRange> ranges(static_cast<std::size_t>(axes_of(spec().encoding)), claim);
  const std::vector<std::int64_t> sides = image();
  for (std::size_t axis = 0; axis < sides.size(); ++axis) ranges[axis].last = std::min(ranges[axis].last, sides[axis]);
  return ranges;
}

gen::PositionRange RotationModel::range() const {
  return std::ranges::min(axis_ranges(), {}, &gen::PositionRange::last);
}

gen::PositionRange RotationModel::longest_axis() const {
  return std::ranges::max(axis_ranges(), {}, &gen::PositionRange::last);
}

// A question's coordinates wrap round at the end of each axis, so it may begin anywhere on the longest.
std::vector<FieldOf<Question>> RotationModel::question_fields() const {
  std::vector<FieldOf<Question>> fields = sextant::question_fields(spec());
  for (FieldOf<Question>& field : fields) {
    if (field.role == FieldRole::position) field.range.most = longest_axis().last - 1;
  }
  fields.push_back(order_field());
  return fields;
}

rc::Gen<Question> RotationModel::drawn_questions() const {
  return with_drawn_cells(of_many_shapes(EncodingModel::drawn_questions(), range(),
                                         {{most_rows, longest_drawn, most_heads}, values_of_call / judged_values()}),
                          space());
}

Call RotationModel::call_of(const Question& question) const {
  Call call{.positions = positions_of(spec(), question, question.batch), .fill = question.fill};
  call.vectors.push_back(drawn({question.batch, question.tokens, vectors_of(question.heads)}, question.fill + 1));
  return call;
}

std::vector<Question> RotationModel::first_questions() const {
  std::vector<Question> questions = EncodingModel::first_questions();
  for (const Question& question : of_kernels()) questions.push_back(question);
  return questions;
}

std::vector<Question> RotationModel::of_kernels() const {
  const std::int64_t near = gen::simplest_position(range());
  const std::int64_t far = std::max(range().first, range().last - 1025);
  std::vector<Question> questions{
      {.position = near, .tokens = 2, .heads = 3, .fill = every_magnitude},
      {.position = near, .tokens = 64, .heads = 3, .fill = tokens_of_every_magnitude},
      {.position = near, .tokens = 1025, .heads = 2, .fill = 1},
      {.position = far, .tokens = 1025, .heads = 12, .fill = 1},
      {.position = near, .tokens = 100, .heads = std::min(head_dim_, most_heads), .fill = 1}};
  for (const std::int64_t position : {near, far}) {
    questions.push_back({.position = position, .tokens = 3, .heads = 2, .fill = constant_vectors});
    // A step of decoding for many sequences.
    for (const std::int64_t batch : {9, 64})
      questions.push_back({.position = position, .tokens = 1, .batch = batch, .heads = 4, .fill = 1});
  }
  for (const Question& question : questions_of_every_extent(near)) questions.push_back(question);
  for (const Question& question : questions_of_equal_extents(near)) questions.push_back(question);
  for (const Question& question : questions_of_every_order(near)) questions.push_back(question);
  for (const Question& question : questions_of_every_length(near)) questions.push_back(question);
  for (const Question& question : questions_of_long_calls(near, judged_values())) questions.push_back(question);
  for (const Question& question : questions_of_long_rows(near, judged_values())) questions.push_back(question);
  for (const Question& question : of_placements(near)) questions.push_back(question);
  for (Question question : questions_of_cells(space(), near)) {
    // Every other one in two batch rows, of which the second has the next one's cells.
    constexpr std::int64_t few = 300;
    if (question.tokens <= few) question.batch = 1 + question.fill % 2;
    questions.push_back(question);
  }
  const auto put = [](Question& question, Numbers numbers) {
    question.heads = 2;
    question.fill = numbers == Numbers::whole ? whole_numbers : half_numbers;
  };
  for (const Question& question : questions_of_numbers(signature_of(spec().encoding).positions, near, put))
    questions.push_back(question);
  std::erase_if(questions, [&](const Question& question) { return !admits(question); });
  return questions;
}

// Grids of as many patches follow each other: portraits the images of their lengths.
std::vector<Question> RotationModel::of_placements(std::int64_t position) const {
  std::vector<Question> questions;
  if (axes_of(spec().encoding) < 2) return questions;
  std::vector<std::int64_t> lengths{2, 3, 6, 7, 12, 36, 39, 40, 64, 81, 128, 201, 240, 256, 1024, 1080, 2048};
  for (const std::int64_t tokens : gen::usual_extents()) {
    constexpr std::int64_t most = 800;
    if (tokens <= most) lengths.push_back(tokens);
  }
  if (const std::vector<std::int64_t> sides = image(); !sides.empty()) {
    std::int64_t patches = 1;
    for (const std::int64_t side : sides) patches *= std::min(side, longest_call);
    for (const std::int64_t others : {0, 1, 5})
      if (patches <= longest_call) lengths.push_back(patches + others);
  }
  for (const std::int64_t tokens : lengths) {
    for (std::int64_t placement = 0; placement < gen::placements; ++placement) {
      const std::int64_t rows = gen::rows_of(static_cast<gen::Placement>(placement));
      questions.push_back({.position = position,
                           .tokens = tokens,
                           .batch = std::max(rows, 1 + tokens % 2),
                           .fill = placed + placement});
    }
  }
  return questions;
}

CellSpace RotationModel::space() const {
  CellSpace space{.axes = axis_ranges(), .grid = image(), .values = head_dim_};
  for (std::size_t axis = 0; axis < space.grid.size(); ++axis)
    space.grid[axis] = space.axes[axis].last - space.axes[axis].first;
  return space;
}

// How far the coordinates on neighbouring axes lie apart in a sweep.
constexpr std::int64_t axis_lag = 6;

// Fills whose questions ask about the same coordinate on every axis.
constexpr std::int64_t diagonal_fill = 3;
bool is_diagonal(std::int64_t fill) { return fill % 4 == diagonal_fill; }

// On the first axis a sweep has each position once. On the others it is some steps behind, so that the largest
// coordinate is the position: what is left of them at the end is asked about along the diagonal.
SweepOf<Question> RotationModel::sweep(std::int64_t most_values) const {
  const auto [first, last] = longest_axis();
  SweepOf<Question> sweep = sweep_over({first, last}, judged_values(), most_values, SweptCalls::rows_and_heads);
  const std::int64_t lag = axis_lag * (axes_of(spec().encoding) - 1);
  if (lag > 0) {
    sweep.of = "coordinates of each axis";
    const std::int64_t start = std::max(first, last - lag);
    sweep.blocks.push_back({{.position = start, .tokens = last - start, .fill = diagonal_fill}, 0});
  }
  return sweep;
}

Tensor RotationModel::given(const Question& question) const {
  const gen::Extents extents{question.batch, question.tokens, vectors_of(question.heads)};
  if (asks_for_cells(question)) return drawn(extents, drawing_of(question.fill) + first_drawing());
  if (question.fill >= every_magnitude) {
    const auto drawing =
        question.fill >= tokens_of_every_magnitude ? gen::rows_of_every_magnitude : gen::values_of_every_magnitude;
    return drawing(spec().dtype, {extents.batch, extents.tokens, extents.heads, head_dim_}, question.fill,
                   largest_finite(spec().dtype) / 2 / std::max(1.0, most_stretch()));
  }
  if (question.fill == special_values && turns_nothing()) return special(spec().dtype, extents, head_dim_);
  if (question.fill == constant_vectors) return all_ones(spec().dtype, extents, head_dim_);
  const std::int64_t fill = question.fill + first_drawing();
  if (question.fill < heads_alike || extents.heads == 1) return drawn(extents, fill);
  return in_heads(drawn({extents.batch, extents.tokens, 1}, fill), extents.heads);
}

// As the fill places them; else on the first axis as the question's order has them. On the
// others of odd fills as a sweep has them; of even ones from another place and in steps of another size, since where
// all distances are equal one axis could stand for another: a place in proportion, at either end, mirrored, anywhere.
// Where an axis ends before the longest, its coordinates begin again.
Call RotationModel::accuracy_call(const Question& question) const {
  Call call = call_on_the_longest(question);
  const std::vector<gen::PositionRange> ranges = axis_ranges();
  const std::size_t tokens = call.positions.size() / ranges.size();
  for (std::size_t i = 0; i < call.positions.size(); ++i) {
    const auto [first, last] = ranges[i / tokens];
    if (call.positions[i] >= last) call.positions[i] = first + (call.positions[i] - first) % (last - first);
  }
  return call;
}

Call RotationModel::call_on_the_longest(const Question& question) const {
  const gen::PositionRange longest = longest_axis();
  const auto [first, last] = longest;
  const std::int64_t width = last - first;
  const std::int64_t start = question.position - first;
  Call call{.fill = question.fill};
  call.vectors.push_back(given(question));
  const std::int64_t axes = axes_of(spec().encoding);
  if (const auto placement = placement_of(question); placement && axes > 1) {
    call.positions = gen::placed_positions(*placement, longest, question.position, axes,
                                           {question.batch, question.tokens, 1}, image());
    return call;
  }
  if (axes > 1 && asks_for_cells(question)) {
    std::vector<std::vector<std::int64_t>> rows;
    for (std::int64_t row = 0; row < question.batch; ++row) rows.push_back(*cell_positions(space(), question, row));
    for (std::int64_t axis = 0; axis < axes; ++axis) {
      for (const std::vector<std::int64_t>& row : rows)
        call.positions.insert(call.positions.end(), row.begin() + axis * question.tokens,
                              row.begin() + (axis + 1) * question.tokens);
    }
    return call;
  }
  if (axes == 1 && (question.fill == whole_numbers || question.fill == half_numbers)) {
    const Numbers numbers = question.fill == whole_numbers ? Numbers::whole : Numbers::halves;
    call.positions = positions_among(numbers, signature_of(spec().encoding).positions, range(), question.position,
                                     {question.batch, question.tokens, 1}, static_cast<gen::Order>(question.order));
    return call;
  }
  const auto start_on = [&](std::int64_t axis) {
    const std::uint64_t word = gen::word(question.fill, axis);
    const std::int64_t starts[] = {start / (1 + axis * (1 + question.fill % 3)), 0, width - question.tokens,
                                   width - 1 - start,
                                   static_cast<std::int64_t>((word >> 8) % static_cast<std::uint64_t>(width))};
    return std::max<std::int64_t>(axis == 0 ? start : starts[word % std::size(starts)], 0);
  };
  for (std::int64_t axis = 0; axis < axes; ++axis) {
    const std::int64_t lag = is_diagonal(question.fill) ? 0 : axis_lag * axis;
    const std::int64_t own_start = start_on(axis);
    for (std::int64_t token = 0; token < question.batch * question.tokens; ++token) {
      const std::int64_t step = gen::steps(static_cast<gen::Order>(question.order), token / question.tokens,
                                           token % question.tokens, question.tokens);
      call.positions.push_back(first + (question.fill % 2 == 1 ? std::max<std::int64_t>((start + step) % width - lag, 0)
                                                               : (own_start + step * (axis + 1) + lag) % width));
    }
  }
  return call;
}

Parts RotationModel::chunk_of(const Chunk& chunk) const {
  const std::int64_t vectors = vectors_of(1);
  const Tensor x = drawn({.batch = 1, .tokens = chunk.length, .heads = vectors}, chunk.fill + first_drawing());
  return {.whole = {.positions = positions_of(spec(), chunk, 0, chunk.length), .vectors = {x}},
          .part = {.positions = positions_of(spec(), chunk, chunk.skip, chunk.count),
                   .vectors = {slice(x, chunk.skip, chunk.count)}},
          .in_whole = [offset = chunk.skip * vectors * head_dim_](std::int64_t element) { return offset + element; },
          .together = vectors * head_dim_};
}

Parts RotationModel::one_of(const Question& question, std::int64_t which) const {
  const Tensor x = drawn({question.batch, question.tokens, question.heads}, question.fill + 1);
  const std::int64_t tokens = question.batch * question.tokens;
  const std::vector<std::int64_t> positions = scattered_positions(spec(), question.position, tokens);
  const std::int64_t vector = which % (tokens * question.heads);
  const std::int64_t start = vector * head_dim_;
  Tensor own = Tensor::zeros(spec().dtype, {1, 1, 1, head_dim_});
  for (std::int64_t i = 0; i < head_dim_; ++i) own.set(i, x.at(start + i));
  return {.whole = {.positions = positions, .vectors = {x}},
          .part = {.positions = place_at(positions, tokens, vector / question.heads), .vectors = {std::move(own)}},
          .in_whole = [start](std::int64_t element) { return start + element; },
          .together = head_dim_};
}

// Behind rows joined to one and heads.
constexpr std::int64_t other_shapes = 2;
std::int64_t RotationModel::shapes() const { return other_shapes + token_shapes; }
std::optional<std::int64_t> RotationModel::number_of(TokenShape shape) const {
  return other_shapes + static_cast<std::int64_t>(shape);
}

gen::LargestCall RotationModel::largest_reshaped() const {
  const std::int64_t values = bytes_of_largest / static_cast<std::int64_t>(size_of(spec().dtype));
  return {{most_rows, longest_call, most_heads}, std::max<std::int64_t>(values / judged_values(), 1)};
}

gen::LargestCall RotationModel::largest_drawn() const {
  return {{most_rows, longest_drawn, most_heads}, std::max<std::int64_t>(2 * values_of_call / judged_values(), 1)};
}

// Rows joined to one, heads from the cut on, and the shapes of tokens.
Parts RotationModel::reshaped(const Question& question, std::int64_t shape, std::int64_t cut) const {
  return reshaped(accuracy_call(question), shape, cut, question.heads);
}

Parts RotationModel::reshaped(Call whole, std::int64_t shape, std::int64_t cut, std::int64_t cut_heads) const {
  const Tensor& x = whole.vectors[0];
  const std::int64_t batch = x.shape[0];
  const std::int64_t tokens = x.shape[1];
  const std::int64_t heads = x.shape[2];
  Call part{.positions = whole.positions, .weight = whole.weight, .fill = whole.fill};
  if (shape == 0) {
    part.vectors.push_back({x.dtype, {1, batch * tokens, heads, head_dim_}, x.data});
    return {std::move(whole), std::move(part), [](std::int64_t element) { return element; }, head_dim_};
  }
  const std::int64_t first_head = shape == 1 ? cut_of(cut_heads, cut) : 0;
  const std::vector<std::int64_t> from = shape == 1
                                             ? gen::consecutive(0, tokens)
                                             : tokens_again(static_cast<TokenShape>(shape - other_shapes), tokens, cut);
  const std::int64_t count = std::ssize(from);
  part.positions = positions_again(whole.positions, tokens, from);
  Tensor again = Tensor::zeros(x.dtype, {batch, count, heads - first_head, head_dim_});
  const std::int64_t width = (heads - first_head) * head_dim_;
  const auto start_in_whole = [=, dim = head_dim_](std::int64_t row, std::int64_t token) {
    return ((row * tokens + token) * heads + first_head) * dim;
  };
  const std::size_t bytes = size_of(x.dtype);
  for (std::int64_t row = 0; row < batch; ++row) {
    for (std::int64_t token = 0; token < count; ++token) {
      std::memcpy(again.data.data() + static_cast<std::size_t>((row * count + token) * width) * bytes,
                  x.data.data() + static_cast<std::size_t>(start_in_whole(row, source_of(from, token, tokens))) * bytes,
                  static_cast<std::size_t>(width) * bytes);
    }
  }
  part.vectors.push_back(std::move(again));
  return {std::move(whole), std::move(part),
          [=](std::int64_t element) {
            const std::int64_t vector = element / width;
            const std::int64_t own = from[static_cast<std::size_t>(vector % count)];
            return own < 0 ? own : start_in_whole(vector / count, own) + element % width;
          },
          width};
}

Tensor RotationModel::ask(Session& session, const Call& call) const {
  return rotate(session, spec(), call.vectors[0], call.positions);
}

std::unique_ptr<RotationJudge> RotationModel::rotation_judge() const { return nullptr; }

std::unique_ptr<Judge> RotationModel::judge() const { return rotation_judge(); }

std::unique_ptr<Judge> RotationModel::gradient_judge() const {
  auto judge = rotation_judge();
  judge->transpose();
  return judge;
}

}  // namespace sextant
