#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "subjects/subject.hpp"

namespace sextant::suites {

using Positions = std::vector<std::int64_t>;

/// A call of rotate.
struct Rotated {
  std::vector<Positions> rows;  ///< of each batch row
  std::int64_t heads;
  std::int64_t fill = 1;

  bool operator==(const Rotated&) const = default;
};

/// The claim in another dtype, evaluated in float32. @throws SpecError where there is none.
Spec in_dtype(Spec spec, Dtype dtype);

/// A subject under a rope claim in a dtype, and what its answers are compared with. Members throw what operations.hpp
/// says.
class Asked {
 public:
  Asked(const Subject& subject, const Spec& claim, Dtype dtype);

  const Spec& spec() const { return spec_; }

  /// What is turned.
  Tensor values(const Rotated& call) const;

  /// [batch, tokens]. The claim may end before the suite does: its positions come again.
  Positions positions(const Rotated& call) const;

  Tensor got(const Rotated& call);
  Tensor got(const Tensor& x, const Positions& positions);

  /// The usual float32 code's answer. Of one claim they are kept: subject after subject is asked about it.
  Tensor usual(const Rotated& call);

  /// The formula, in double, with cosines and sines that are the subject's own: what it makes of (1, 0) in float32. One
  /// that turns the other way has the right table, and another formula.
  Tensor by_own_table(const Rotated& call);

 private:
  bool turns_back(const Tensor& table, const Rotated& call) const;

  const Subject& subject_;
  Spec spec_;
  Rope rope_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Session> usual_;
};

}  // namespace sextant::suites
