#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/numeric/tensor.hpp"
#include "lib/spec/spec.hpp"
#include "properties/mutants/mutant.hpp"
#include "properties/mutants/plain_rope.hpp"
#include "properties/mutants/plain_sinusoidal.hpp"
#include "subjects/function.hpp"

// Honest implementations that are wrong in some places of some calls: what blocks, tiles, vector tails, caches and
// paths by shape come to when they go wrong.

namespace sextant::mutants {

/// One value of an answer, with what a kernel's index arithmetic knows of it. Codes have one batch row and one head, a
/// bias one batch row; a bias' tokens are its queries and its channels are its keys.
struct Spot {
  std::int64_t batch = 0, batches = 1;
  std::int64_t token = 0, tokens = 1;
  std::int64_t head = 0, heads = 1;
  std::int64_t channel = 0, channels = 1;
  std::int64_t position = 0;  ///< the token's, on the first axis
  std::int64_t before = 0;    ///< that of the token before it in its batch row; of the first its own less 1
  std::int64_t second = 0;    ///< the token's on the second axis; of a bias the key's position

  /// The number of the value's vector in [batch, token, head].
  std::int64_t vector() const { return (batch * tokens + token) * heads + head; }
};

/// A call that has been answered rightly.
struct Asked {
  const FunctionSubject::Call& honest;
  std::string_view operation;
  const Tensors& inputs;
  const Tensor& answer;

  /// What the honest implementation answers to other inputs.
  Tensor again(const Tensors& changed) const { return honest(operation, changed).begin()->second; }

  /// Calls visit(spot, index) for each value of the answer, in row-major order.
  void each(const std::function<void(const Spot& spot, std::int64_t index)>& visit) const;
};

using Where = std::function<bool(const Spot& spot)>;
/// A wrong answer to a call, of the right one's shape: a mutant's values are these in some places.
using Wrong = std::function<Tensor(const Asked& asked)>;

/// Each encoding as it is commonly written: PlainSinusoidal, PlainRope or PlainOther, and their gradients.
FunctionSubject::Call plain_call(const Spec& spec);

/// The operations of a rotation or a code that is made of steps.
FunctionSubject::Call rope_call(PlainRope plain);
FunctionSubject::Call sinusoidal_call(PlainSinusoidal plain);

/// A fresh PlainSinusoidal for each session, changed once: what the change keeps in a shared_ptr is the session's
/// state.
using SinusoidalChange = std::function<void(PlainSinusoidal&)>;
FunctionSubject::Make changed(const SinusoidalChange& change);

/// Which pass is wrong.
enum class Pass { forward, backward };

/// The plain implementation, with the values of `wrong` at the spots `where`. The other pass and buckets stay right.
FunctionSubject::Make wrong_where(Where where, Wrong wrong, Pass pass = Pass::forward);

/// Vectors of a call of encode or rotate, by their numbers, asked for in one call of their own. [vectors, width].
Tensor vectors_alone(const Asked& asked, std::span<const std::int64_t> vectors);

// Wrong answers.

/// Nothing was written.
Wrong zeros();
/// The vectors as they came, of rotations.
Wrong as_given();
Wrong negated();
/// What stands so many tokens, heads or channels further on; the last or first one where there is none.
Wrong from_token(std::int64_t steps);
Wrong from_head(std::int64_t steps);
Wrong from_channel(std::int64_t steps);
/// What the first batch row has.
Wrong from_first_row();
/// The answer for other positions, of codes and rotations: all coordinates change.
Wrong at_positions(std::function<std::int64_t(std::int64_t position)> change);
/// The bias of other distances (key - query).
Wrong at_distances(std::function<std::int64_t(std::int64_t distance)> change);
/// Every value rounded to another dtype, or moved away from zero by ULPs of its own.
Wrong held_in(Dtype dtype);
Wrong off_by_ulps(int ulps);
/// Values beyond it are it.
Wrong clamped_to(double most);

/// A list of changed sinusoids as it grows.
struct ChangedSinusoids {
  std::vector<Mutant> entries;

  void defect(std::string name, std::string row, std::string mechanism, std::string spec,
              const SinusoidalChange& change) {
    entries.push_back(
        {std::move(name), Kind::defect, std::move(row), std::move(mechanism), std::move(spec), changed(change)});
  }
  void control(
      std::string name, std::string mechanism, std::string spec,
      const SinusoidalChange& change = [](PlainSinusoidal&) {}) {
    entries.push_back({std::move(name), Kind::control, "", std::move(mechanism), std::move(spec), changed(change)});
  }
};

/// A list of mutants that are wrong in some places, as it grows.
struct LocalFaults {
  std::vector<Mutant> entries;

  void defect(std::string name, std::string mechanism, std::string spec, Where where, Wrong wrong) {
    entries.push_back({std::move(name), Kind::defect, "", std::move(mechanism), std::move(spec),
                       wrong_where(std::move(where), std::move(wrong))});
  }
  void gradient(std::string name, std::string mechanism, std::string spec, Where where, Wrong wrong) {
    entries.push_back({std::move(name), Kind::defect, "", std::move(mechanism), std::move(spec),
                       wrong_where(std::move(where), std::move(wrong), Pass::backward)});
  }
  void add(Kind kind, std::string name, std::string mechanism, std::string spec, FunctionSubject::Make make) {
    entries.push_back({std::move(name), kind, "", std::move(mechanism), std::move(spec), std::move(make)});
  }
};

}  // namespace sextant::mutants
