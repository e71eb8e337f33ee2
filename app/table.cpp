#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <memory>
#include <utility>
#include <vector>

#include "app/command.hpp"
#include "app/signals.hpp"
#include "app/spec_argument.hpp"
#include "properties/engine/case.hpp"
#include "properties/model/exact_table.hpp"
#include "subjects/regular_file.hpp"
#include "subjects/subject.hpp"
#include "subjects/table_file.hpp"

namespace sextant {
namespace {

struct TableArguments {
  SpecOptions claim;
  std::string positions;
  std::string dtype;
  std::string out;
};

// first, first + step, ... below last; or those that are listed, in any order.
struct Positions {
  std::int64_t first;  // the least
  std::int64_t last;   // beyond the largest
  std::int64_t step = 1;
  std::vector<std::int64_t> listed = {};

  // Not a sum that a large step overflows.
  std::int64_t count() const {
    return listed.empty() ? (last - first - 1) / step + 1 : static_cast<std::int64_t>(listed.size());
  }
  std::int64_t largest() const { return listed.empty() ? first + (count() - 1) * step : last - 1; }
  std::int64_t at(std::int64_t index) const {
    return listed.empty() ? first + index * step : listed[static_cast<std::size_t>(index)];
  }
};

constexpr std::int64_t limit = std::int64_t{1} << 53;

// The integers of a text file.
Positions read_positions_file(const std::string& name) {
  if (const std::string why = why_no_file(name); !why.empty())
    throw UsageError(fmt::format("--positions {}: expected A:B, A:B:STEP or a file: {}", name, why));
  std::ifstream stream(name);
  std::vector<std::int64_t> listed;
  for (std::string word; stream >> word;) {
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number < -limit || number > limit)
      throw UsageError(fmt::format("--positions {}: number {}: expected an integer within 2^53, got {}", name,
                                   listed.size() + 1, in_quotes(word)));
    listed.push_back(number);
  }
  if (listed.empty()) throw UsageError(fmt::format("--positions {}: the file has no numbers", name));
  const auto [least, largest] = std::ranges::minmax(listed);
  return {least, largest + 1, 1, std::move(listed)};
}

Positions read_positions(const std::string& text) {
  if (text.find(':') == std::string::npos) return read_positions_file(text);
  std::vector<std::int64_t> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (numbers.size() < 3) {
    std::int64_t number = 0;
    const auto [next, error] = std::from_chars(at, end, number);
    if (error != std::errc()) break;
    numbers.push_back(number);
    at = next;
    if (at == end || *at != ':') break;
    ++at;
  }
  if (at != end || text.ends_with(':') || numbers.size() < 2)
    throw UsageError(fmt::format("--positions {}: expected A:B or A:B:STEP, whole numbers", text));
  const Positions positions{numbers[0], numbers[1], numbers.size() == 3 ? numbers[2] : 1};
  if (positions.step < 1) throw UsageError(fmt::format("--positions {}: STEP must be at least 1", text));
  if (positions.first < -limit || positions.last > limit + 1 || positions.last <= positions.first) {
    throw UsageError(fmt::format("--positions {}: expected A below B, both within 2^53", text));
  }
  return positions;
}

Dtype read_dtype(const std::string& name, Dtype fallback) {
  if (name.empty()) return fallback;
  const auto dtype = dtype_named(name);
  if (!dtype || *dtype == Dtype::int64)
    throw UsageError(fmt::format("--dtype {}: expected float64, float32, float16 or bfloat16", name));
  return *dtype;
}

// The file's tensors: the table's parts, or in a .npy file, which holds one, their rows joined: cos | sin.
std::vector<TableFile::Table> tensors_of(const ExactTable& table, const Positions& positions, const std::string& out) {
  std::vector<TableFile::Table> tensors;
  for (const ExactTable::Part& part : table.parts()) tensors.push_back({part.name, positions.count(), part.columns});
  if (!out.ends_with(".npy")) return tensors;
  for (; tensors.size() > 1; tensors.pop_back()) tensors.front().columns += tensors.back().columns;
  return tensors;
}

int run_table(const TableArguments& arguments) {
  const Spec spec = spec_from_options(arguments.claim);
  const Positions positions = read_positions(arguments.positions);
  const Dtype dtype = read_dtype(arguments.dtype, spec.dtype);
  const SignalsToStop signals;
  const std::unique_ptr<ExactTable> table = exact_table(spec, {.dtype = dtype, .furthest = positions.largest()});
  if (!table)
    throw UsageError(fmt::format(
        "table: expected a spec of sinusoidal, sinusoidal_2d, sinusoidal_nd, rope or rotary_table, of which "
        "it writes tables, got {}",
        encoding_name(spec)));
  if (const auto expected = table->expected_positions(positions.first, positions.last - 1))
    throw UsageError(fmt::format("--positions {}: expected {}", arguments.positions, *expected));
  const std::vector<TableFile::Table> tensors = tensors_of(*table, positions, arguments.out);
  const PositionGrid grid = position_grid_of(spec.encoding);
  TableFile file(arguments.out, dtype, tensors);
  for (std::int64_t i = 0; i < positions.count(); ++i) {
    if (signals.token().stop_requested()) throw Interrupted();
    // Whole positions, of a spec of real ones too.
    const auto count = grid.count_of(static_cast<double>(positions.at(i)));
    if (!count) throw UsageError(fmt::format("--positions {}: beyond 2^53 steps", arguments.positions));
    const std::vector<std::vector<double>>& rows = table->at(*count);
    // The parts of a row that is one follow each other.
    for (std::size_t part = 0; part < rows.size(); ++part) file.append(std::min(part, tensors.size() - 1), rows[part]);
  }
  file.commit();
  fmt::print("{}: {} positions of {}, correctly rounded\n", arguments.out, positions.count(), describe(spec));
  return 0;
}

}  // namespace

Run add_table(CLI::App& app) {
  auto arguments = std::make_shared<TableArguments>();
  CLI::App* command = app.add_subcommand("table", "Write the correctly rounded values of an encoding");
  add_spec_options(*command, arguments->claim, "A file, inline JSON, a preset's name or - (standard input)");
  command
      ->add_option("--positions", arguments->positions,
                   "A:B[:STEP], B excluded, or a text file of integers, whose rows come in its order; for "
                   "sinusoidal_2d and sinusoidal_nd the numbers of grid cells, row by row")
      ->required();
  command->add_option("--dtype", arguments->dtype,
                      "float64, float32, float16 or bfloat16; that of the spec unless given");
  command
      ->add_option("--out", arguments->out, "FILE.npy, where cosines and sines of rope are joined, or FILE.safetensors")
      ->required();
  return [arguments] { return run_table(*arguments); };
}

}  // namespace sextant
