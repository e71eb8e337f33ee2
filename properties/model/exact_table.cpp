#include "properties/model/exact_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <vector>

#include "reference/rope.hpp"
#include "reference/rotation_table.hpp"
#include "reference/sinusoidal.hpp"
#include "reference/sinusoidal_nd.hpp"

namespace sextant {
namespace {

using reference::Enclosure;
using reference::Precision;
using reference::Rotation;
using reference::RotationTable;

// Sine and cosine of pair i, in the channels that are its own.
void put(std::vector<double>& row, const Channels& channels, const RotationTable::Row& values, std::int64_t pair) {
  row[static_cast<std::size_t>(channels.first)] = values.sin[static_cast<std::size_t>(pair)];
  row[static_cast<std::size_t>(channels.second)] = values.cos[static_cast<std::size_t>(pair)];
}

class SinusoidalTable final : public ExactTable {
 public:
  SinusoidalTable(const Sinusoidal& encoding, Dtype dtype)
      : oracle_(encoding),
        // The table is asked for position + offset, so the exact tier is asked for that angle too, not the position's.
        table_(
            oracle_.fast(),
            [this](std::int64_t position, std::int64_t pair, Precision precision) -> const Rotation& {
              return oracle_.shift(position, pair, precision);
            },
            [scale = encoding.scale](Precision precision) { return Enclosure(scale, precision); }, dtype),
        rows_{std::vector<double>(static_cast<std::size_t>(encoding.dim))} {}

  std::vector<Part> parts() const override { return {{"encoding", oracle_.encoding().dim}}; }

  const std::vector<std::vector<double>>& at(std::int64_t position) override {
    const Sinusoidal& encoding = oracle_.encoding();
    const auto& values = table_.at(position + encoding.position_offset);
    for (std::int64_t pair = 0; pair < pairs(encoding); ++pair)
      put(rows_[0], channels_of_pair(encoding, pair), values, pair);
    return rows_;
  }

 private:
  reference::SinusoidalReference oracle_;
  RotationTable table_;
  std::vector<std::vector<double>> rows_;
};

// The cells of the grid are numbered row by row, from 0.
class GridTable final : public ExactTable {
 public:
  GridTable(const Sinusoidal2d& encoding, Dtype dtype)
      : encoding_(encoding),
        oracle_(half_of(encoding)),
        table_(
            oracle_.fast(),
            [this](std::int64_t position, std::int64_t pair, Precision precision) -> const Rotation& {
              return oracle_.rotation(position, pair, precision);
            },
            [](Precision precision) { return Enclosure(1.0, precision); }, dtype),
        rows_{std::vector<double>(static_cast<std::size_t>(encoding.dim))} {}

  std::vector<Part> parts() const override { return {{"encoding", encoding_.dim}}; }

  std::optional<std::string> expected_positions(std::int64_t first, std::int64_t last) const override {
    if (first >= 0 && last / encoding_.width < encoding_.height) return std::nullopt;
    return fmt::format("cells of the {} x {} grid, numbered row by row from 0", encoding_.height, encoding_.width);
  }

  const std::vector<std::vector<double>>& at(std::int64_t cell) override {
    put_half(GridAxis::height, cell / encoding_.width);
    put_half(GridAxis::width, cell % encoding_.width);
    return rows_;
  }

 private:
  void put_half(GridAxis axis, std::int64_t coordinate) {
    const auto& values = table_.at(coordinate);
    for (std::int64_t pair = 0; pair < pairs(encoding_); ++pair)
      put(rows_[0], channels_of_pair(encoding_, axis, pair), values, pair);
  }

  Sinusoidal2d encoding_;
  reference::SinusoidalReference oracle_;
  RotationTable table_;
  std::vector<std::vector<double>> rows_;
};

// The cells of the grid are numbered from 0, the last axis fastest.
class PlacesTable final : public ExactTable {
 public:
  PlacesTable(const SinusoidalNd& encoding, Dtype dtype)
      : oracle_(encoding), rows_{std::vector<double>(static_cast<std::size_t>(encoding.dim))} {
    for (std::int64_t axis = 0; axis < axes(encoding); ++axis) {
      tables_.emplace_back(
          oracle_.fast(axis),
          [this, axis](std::int64_t count, std::int64_t pair, Precision precision) -> const Rotation& {
            return oracle_.rotation(count - this->encoding().position_offset, axis, pair, precision);
          },
          [](Precision precision) { return Enclosure(1.0, precision); }, dtype);
    }
  }

  std::vector<Part> parts() const override { return {{"encoding", encoding().dim}}; }

  std::optional<std::string> expected_positions(std::int64_t first, std::int64_t last) const override {
    for (std::size_t axis = encoding().extents.size(); axis-- > 0;) last /= encoding().extents[axis];
    if (first >= 0 && last == 0) return std::nullopt;
    return fmt::format("cells of the {} grid, numbered from 0, the last axis fastest",
                       fmt::join(encoding().extents, " x "));
  }

  const std::vector<std::vector<double>>& at(std::int64_t cell) override {
    for (std::int64_t axis = axes(encoding()); axis-- > 0;) {
      const std::int64_t extent = encoding().extents[static_cast<std::size_t>(axis)];
      const auto& values = tables_[static_cast<std::size_t>(axis)].at(cell % extent + encoding().position_offset);
      cell /= extent;
      for (std::int64_t pair = 0; pair < pairs(encoding(), axis); ++pair) {
        const Channels channels = channels_of_pair(encoding(), axis, pair);
        const auto i = static_cast<std::size_t>(pair);
        if (channels.first < encoding().dim) rows_[0][static_cast<std::size_t>(channels.first)] = values.sin[i];
        if (channels.second < encoding().dim) rows_[0][static_cast<std::size_t>(channels.second)] = values.cos[i];
      }
    }
    return rows_;
  }

 private:
  const SinusoidalNd& encoding() const { return oracle_.encoding(); }

  reference::SinusoidalNdReference oracle_;
  std::vector<RotationTable> tables_;  // of each axis, by its counts
  std::vector<std::vector<double>> rows_;
};

// A table holds cos and sin of w_i p itself: the direction of the rotation is in how they are applied.
Rope counterclockwise(Rope encoding) {
  encoding.direction = Direction::counterclockwise;
  return encoding;
}

class RopeTable final : public ExactTable {
 public:
  RopeTable(const Rope& encoding, const TableRequest& request)
      : oracle_(counterclockwise(encoding)),
        length_(reference::sequence_length(std::array{request.furthest})),
        table_(
            oracle_.fast(length_),
            [this](std::int64_t position, std::int64_t pair, Precision precision) -> const Rotation& {
              return oracle_.rotation(position, pair, length_, precision);
            },
            [this](Precision precision) { return oracle_.attention_factor(length_, precision); }, request.dtype),
        rows_(2) {}

  std::vector<Part> parts() const override {
    return {{"cos", pairs(oracle_.encoding())}, {"sin", pairs(oracle_.encoding())}};
  }

  const std::vector<std::vector<double>>& at(std::int64_t position) override {
    const auto& values = table_.at(position);
    rows_[0] = values.cos;
    rows_[1] = values.sin;
    return rows_;
  }

 private:
  reference::RopeReference oracle_;
  std::int64_t length_;
  RotationTable table_;
  std::vector<std::vector<double>> rows_;
};

struct Make {
  const TableRequest& request;

  std::unique_ptr<ExactTable> operator()(const Sinusoidal& encoding) const {
    return std::make_unique<SinusoidalTable>(encoding, request.dtype);
  }
  std::unique_ptr<ExactTable> operator()(const Sinusoidal2d& encoding) const {
    return std::make_unique<GridTable>(encoding, request.dtype);
  }
  std::unique_ptr<ExactTable> operator()(const SinusoidalNd& encoding) const {
    return std::make_unique<PlacesTable>(encoding, request.dtype);
  }
  std::unique_ptr<ExactTable> operator()(const Rope& encoding) const {
    return std::make_unique<RopeTable>(encoding, request);
  }
  // As its judge takes it: of the claim's length.
  std::unique_ptr<ExactTable> operator()(const RotaryTable& encoding) const {
    return std::make_unique<RopeTable>(encoding.rope, request);
  }
  std::unique_ptr<ExactTable> operator()(const auto&) const { return nullptr; }
};

}  // namespace

std::unique_ptr<ExactTable> exact_table(const Spec& spec, const TableRequest& request) {
  return std::visit(Make{request}, spec.encoding);
}

}  // namespace sextant
