#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"

namespace sextant {

/// What a table is made for.
struct TableRequest {
  Dtype dtype;            ///< that values are rounded to
  std::int64_t furthest;  ///< the largest position: the table is one call, whose length some scaling rules depend on
};

/// The correctly rounded values of an encoding, row by row: what `sextant table` writes. An object belongs to one
/// thread.
class ExactTable {
 public:
  /// One tensor of a table.
  struct Part {
    std::string name;
    std::int64_t columns;
  };

  virtual ~ExactTable() = default;

  virtual std::vector<Part> parts() const = 0;

  /// What positions are expected instead of first .. last; nothing if the table has those.
  virtual std::optional<std::string> expected_positions(std::int64_t, std::int64_t) const { return std::nullopt; }

  /// The rows of one position, one for each part, good until the next call.
  virtual const std::vector<std::vector<double>>& at(std::int64_t position) = 0;
};

/// The table of a spec's encoding, or null for those that are no table of sines and cosines.
std::unique_ptr<ExactTable> exact_table(const Spec& spec, const TableRequest& request);

}  // namespace sextant
