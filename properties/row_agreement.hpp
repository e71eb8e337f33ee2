#pragma once

#include <cstdint>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/budget.hpp"
#include "properties/judgement.hpp"
#include "reference/rope.hpp"
#include "reference/sinusoidal.hpp"

namespace sextant {

/// One row of a tensor: dim or head_dim channels from element `start` on.
struct RowOf {
  const Tensor& tensor;
  std::int64_t start;
};

/// Compares the code of one position as two calls gave it. An implementation may take another path in each, so the bits may differ: every channel is
/// within pair_bound (properties/budget.hpp) of the truth, and so within twice that of the other; channels that no frequency turns are equal.
/// An object belongs to one thread. For sinusoidal, and for rope in calls whose frequencies do not depend on their length.
class RowAgreement {
 public:
  explicit RowAgreement(const Spec& spec);

  /// Adds the comparison of two rows at `position` to `judgement`; `x` is what was rotated, for rope.
  void compare(Judgement& judgement, const RowOf& one, const RowOf& other, std::int64_t position, const RowOf* x = nullptr);

 private:
  struct Sine {
    Sinusoidal encoding;
    reference::SinusoidalReference oracle;
  };
  struct Rotary {
    Rope encoding;
    reference::RopeReference oracle;
  };
  using Oracle = std::variant<Sine, Rotary>;
  static Oracle oracle_of(const Spec& spec);
  static ErrorBudget budget_of(const Spec& spec, const Oracle& oracle);

  Spec spec_;
  Oracle oracle_;
  ErrorBudget budget_;
};

/// Why answers of this spec depend on the length of the call, so that parts of a call are no calls of their own; nothing if they do not.
std::optional<std::string> depends_on_length(const Spec& spec);

}  // namespace sextant
