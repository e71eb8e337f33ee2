#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/engine/judgement.hpp"
#include "properties/model/budget.hpp"
#include "properties/model/xpos_budget.hpp"
#include "reference/rope.hpp"
#include "reference/rope_nd.hpp"
#include "reference/sinusoidal.hpp"
#include "reference/sinusoidal_2d.hpp"
#include "subjects/subject.hpp"

namespace sextant {

/// One row of a tensor: dim or head_dim channels from element `start` on.
struct RowOf {
  const Tensor& tensor;
  std::int64_t start;
};

/// Compares the code of one position as two calls gave it. An implementation may take another path in each, so the bits
/// may differ: every channel is within its bound of the truth (properties/model/budget.hpp and xpos_budget.hpp: pair_bound
/// for a turned pair, 1 ULP for a count, 2 for a normalised one, nothing for digits, lookups and channels that no
/// frequency turns), and so within twice that of the other. An object belongs to one thread. For codes and rotations,
/// rope in calls whose frequencies do not depend on their length.
class RowAgreement {
 public:
  explicit RowAgreement(const Spec& spec);

  /// Adds the comparison of two rows at `place`, one coordinate an axis, to `judgement`; `x` is what was rotated.
  void compare(Judgement& judgement, const RowOf& one, const RowOf& other, std::span<const std::int64_t> place,
               const RowOf* x = nullptr);

 private:
  struct Count {
    Integer encoding;
  };
  struct Exact {};
  struct Sine {
    reference::SinusoidalReference oracle;
    ErrorBudget budget;
  };
  struct Grid {
    reference::Sinusoidal2dReference oracle;
    ErrorBudget budget;
  };
  struct Rotary {
    reference::RopeReference oracle;
    ErrorBudget budget;
  };
  struct Axial {
    reference::RopeNdReference oracle;
    ErrorBudget budget;
  };
  struct Scaled {
    XposBudget oracle;
  };
  using Oracle = std::variant<Count, Exact, Sine, Grid, Rotary, Axial, Scaled>;
  static Oracle oracle_of(const Spec& spec);

  // What one pair may be off by, and how long it is.
  struct Allowance {
    reference::Enclosure bound;
    reference::Enclosure norm;
  };
  template <class AllowanceAt>
  void compare_pair(Judgement& judgement, const RowOf& one, const RowOf& other, std::span<const std::int64_t> place,
                    const Channels& channels, AllowanceAt allowance_at) const;
  void compare_exactly(Judgement& judgement, const RowOf& one, const RowOf& other, std::span<const std::int64_t> place,
                       std::int64_t channel) const;
  template <class AllowanceOf>
  void compare_turned(Judgement& judgement, const RowOf& one, const RowOf& other, std::span<const std::int64_t> place,
                      const Rope& head, AllowanceOf allowance_of) const;

  Spec spec_;
  Oracle oracle_;
};

/// Whether an encoding's operation is encode.
bool is_code(const Spec& spec);
/// Whether it is rotate.
bool is_rotation(const Spec& spec);
/// The channels of a row: dim of a code, head_dim of a rotation.
std::int64_t row_width(const Spec& spec);

/// Coordinates i of positions [axes, count].
std::vector<std::int64_t> place_at(std::span<const std::int64_t> positions, std::int64_t count, std::int64_t i);

/// A code at `positions`, [axes, n]; learned's table is drawn from `fill`.
Tensor ask_codes(Session& session, const Spec& spec, std::span<const std::int64_t> positions, std::int64_t fill);

/// Why answers of this spec depend on the length of the call, so that parts of a call are no calls of their own;
/// nothing if they do not.
std::optional<std::string> depends_on_length(const Spec& spec);

}  // namespace sextant
