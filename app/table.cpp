#include <fmt/format.h>

#include <array>
#include <charconv>
#include <memory>

#include "app/command.hpp"
#include "app/signals.hpp"
#include "app/spec_argument.hpp"
#include "reference/rope.hpp"
#include "reference/rotation_table.hpp"
#include "reference/sinusoidal.hpp"
#include "subjects/subject.hpp"
#include "subjects/table_file.hpp"

namespace sextant {
namespace {

struct Arguments {
  std::string spec;
  std::string hf_config;
  std::string positions;
  std::string dtype;
  std::string out;
};

// first, first + step, ... below last.
struct Positions {
  std::int64_t first;
  std::int64_t last;
  std::int64_t step;

  // Not a sum that a large step overflows.
  std::int64_t count() const { return (last - first - 1) / step + 1; }
  std::int64_t largest() const { return first + (count() - 1) * step; }
};

Positions read_positions(const std::string& text) {
  constexpr std::int64_t limit = std::int64_t{1} << 53;
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
    throw UsageError(fmt::format("--positions {}: expected A:B or A:B:STEP", text));
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

// Calls `visit` with every position, until a signal asks to stop.
template <class Visit>
void each(const Positions& positions, const std::stop_token& stop, Visit visit) {
  for (std::int64_t i = 0; i < positions.count(); ++i) {
    if (stop.stop_requested()) throw Interrupted();
    visit(positions.first + i * positions.step);
  }
}

void write_sinusoidal(const Sinusoidal& encoding, const Positions& positions, Dtype dtype, TableFile& file,
                      const std::stop_token& stop) {
  reference::SinusoidalReference oracle(encoding);
  const std::int64_t count = pairs(encoding);
  // The table is asked for position + offset, so the exact tier is asked for that angle too, not for the position's.
  reference::RotationTable table(
      oracle.fast(),
      [&](std::int64_t position, std::int64_t pair, reference::Precision precision) -> const reference::Rotation& {
        return oracle.shift(position, pair, precision);
      },
      [&](reference::Precision precision) { return reference::Enclosure(encoding.scale, precision); }, dtype);
  std::vector<double> row(static_cast<std::size_t>(encoding.dim));
  each(positions, stop, [&](std::int64_t position) {
    const auto& values = table.at(position + encoding.position_offset);
    for (std::int64_t pair = 0; pair < count; ++pair) {
      const Channels channels = channels_of_pair(encoding, pair);
      row[static_cast<std::size_t>(channels.first)] = values.sin[static_cast<std::size_t>(pair)];
      row[static_cast<std::size_t>(channels.second)] = values.cos[static_cast<std::size_t>(pair)];
    }
    file.append(0, row);
  });
}

// The cells of the grid are numbered row by row, from 0.
void write_sinusoidal_2d(const Sinusoidal2d& encoding, const Positions& cells, Dtype dtype, TableFile& file,
                         const std::stop_token& stop) {
  reference::SinusoidalReference oracle(half_of(encoding));
  reference::RotationTable table(
      oracle.fast(),
      [&](std::int64_t position, std::int64_t pair, reference::Precision precision) -> const reference::Rotation& {
        return oracle.rotation(position, pair, precision);
      },
      [](reference::Precision precision) { return reference::Enclosure(1.0, precision); }, dtype);
  std::vector<double> row(static_cast<std::size_t>(encoding.dim));
  const auto put = [&](GridAxis axis, std::int64_t coordinate) {
    const auto& values = table.at(coordinate);
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair) {
      const Channels channels = channels_of_pair(encoding, axis, pair);
      row[static_cast<std::size_t>(channels.first)] = values.sin[static_cast<std::size_t>(pair)];
      row[static_cast<std::size_t>(channels.second)] = values.cos[static_cast<std::size_t>(pair)];
    }
  };
  each(cells, stop, [&](std::int64_t cell) {
    put(GridAxis::height, cell / encoding.width);
    put(GridAxis::width, cell % encoding.width);
    file.append(0, row);
  });
}

void write_rope(const Rope& encoding, const Positions& positions, Dtype dtype, TableFile& file,
                const std::stop_token& stop) {
  // A table holds cos and sin of w_i p itself: the direction of the rotation is in how they are applied.
  Rope counterclockwise = encoding;
  counterclockwise.direction = Direction::counterclockwise;
  reference::RopeReference oracle(counterclockwise);
  // Where the rule depends on the length of a call, the table is one call, whose length is that of its positions: with
  // a step not `last`.
  const std::int64_t length = reference::sequence_length(std::array{positions.largest()});
  reference::RotationTable table(
      oracle.fast(length),
      [&](std::int64_t position, std::int64_t pair, reference::Precision precision) -> const reference::Rotation& {
        return oracle.rotation(position, pair, length, precision);
      },
      [&](reference::Precision precision) { return oracle.attention_factor(precision); }, dtype);
  each(positions, stop, [&](std::int64_t position) {
    const auto& values = table.at(position);
    file.append(0, values.cos);
    file.append(1, values.sin);
  });
}

int run_table(const Arguments& arguments) {
  const Spec spec = spec_from_arguments(arguments.spec, arguments.hf_config);
  const Positions positions = read_positions(arguments.positions);
  const Dtype dtype = read_dtype(arguments.dtype, spec.dtype);
  const SignalsToStop signals;
  if (const auto* sinusoidal = std::get_if<Sinusoidal>(&spec.encoding)) {
    TableFile file(arguments.out, dtype, {{"encoding", positions.count(), sinusoidal->dim}});
    write_sinusoidal(*sinusoidal, positions, dtype, file, signals.token());
    file.commit();
  } else if (const auto* grid = std::get_if<Sinusoidal2d>(&spec.encoding)) {
    if (positions.first < 0 || (positions.last - 1) / grid->width >= grid->height) {
      throw UsageError(fmt::format("--positions {}: expected cells of the {} x {} grid, numbered row by row from 0",
                                   arguments.positions, grid->height, grid->width));
    }
    TableFile file(arguments.out, dtype, {{"encoding", positions.count(), grid->dim}});
    write_sinusoidal_2d(*grid, positions, dtype, file, signals.token());
    file.commit();
  } else if (const auto* rope = std::get_if<Rope>(&spec.encoding)) {
    TableFile file(arguments.out, dtype,
                   {{"cos", positions.count(), pairs(*rope)}, {"sin", positions.count(), pairs(*rope)}});
    write_rope(*rope, positions, dtype, file, signals.token());
    file.commit();
  } else {
    throw UsageError(fmt::format("table: {} is no table of sines and cosines", encoding_name(spec)));
  }
  fmt::print("{}: {} positions of {}, correctly rounded\n", arguments.out, positions.count(), describe(spec));
  return 0;
}

}  // namespace

Run add_table(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("table", "Write the correctly rounded values of an encoding");
  command->add_option("--spec", arguments->spec, "A file, inline JSON or a preset's name");
  command->add_option("--hf-config", arguments->hf_config, "A Hugging Face config.json as the spec");
  command
      ->add_option("--positions", arguments->positions,
                   "A:B[:STEP], B excluded; of sinusoidal_2d the cells, row by row")
      ->required();
  command->add_option("--dtype", arguments->dtype,
                      "float64, float32, float16 or bfloat16; that of the spec unless given");
  command->add_option("--out", arguments->out, "FILE.npy (sinusoidal) or FILE.safetensors")->required();
  return [arguments] { return run_table(*arguments); };
}

}  // namespace sextant
