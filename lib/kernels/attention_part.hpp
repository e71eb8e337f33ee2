#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "lib/numeric/heads.hpp"
#include "lib/spec/xpos.hpp"

// What an encoding of position does within attention: it turns queries and keys, or it adds to the scores, or neither.
// For one that adds, score_bias.hpp in its folder has score_bias_of<Scalar>(encoding, sequences, weight); for one that
// turns there is turning_of(encoding), a line of lib/encoders/encoders.hpp or turning.hpp in its folder.

namespace sextant {

/// How queries and keys are turned by their positions. Const: any number of threads may ask.
class Turning {
 public:
  virtual ~Turning() = default;

  /// Makes y of x as the role has it: x itself (the same data and strides) or apart from it, of its dtype.
  virtual void turn(const ConstHeads& x, std::span<const std::int64_t> positions, Role role, const Heads& y) const = 0;

  /// The adjoint of that map: the gradient by x of what is turned, from the gradient by the result.
  virtual void turn_back(const ConstHeads& grad, std::span<const std::int64_t> positions, Role role,
                         const Heads& grad_x) const = 0;
};

/// Queries are rotated by one encoder, keys by the other.
template <class Encoder>
class TurnedBy final : public Turning {
 public:
  TurnedBy(Encoder query, Encoder key) : query_(std::move(query)), key_(std::move(key)) {}
  void turn(const ConstHeads& x, std::span<const std::int64_t> positions, Role role, const Heads& y) const override {
    (role == Role::query ? query_ : key_).apply(x, positions, y);
  }
  void turn_back(const ConstHeads& grad, std::span<const std::int64_t> positions, Role role,
                 const Heads& grad_x) const override {
    (role == Role::query ? query_ : key_).backward(grad, positions, grad_x);
  }

 private:
  Encoder query_;
  Encoder key_;
};

/// Queries and keys are rotated alike, by the encoder made of `encoding`. @throws what its constructor does.
template <class Encoder, class Encoding>
std::unique_ptr<const Turning> turning_alike(const Encoding& encoding) {
  const Encoder both(encoding);
  return std::make_unique<TurnedBy<Encoder>>(both, both);
}

/// The positions of keys, one sequence of `keys` tokens after the other: [batch, keys], and of queries likewise. They
/// are the same positions but in a call of the last tokens alone.
struct Sequences {
  std::span<const std::int64_t> positions;
  std::int64_t keys;
  std::span<const std::int64_t> query_positions;
  std::int64_t queries;

  const std::int64_t* at(std::int64_t batch, std::int64_t key) const { return positions.data() + batch * keys + key; }
  std::int64_t query(std::int64_t batch, std::int64_t index) const {
    return query_positions[static_cast<std::size_t>(batch * queries + index)];
  }
};

/// One query of one head, by its place among the queries.
struct QueryToken {
  std::int64_t batch;
  std::int64_t head;
  std::int64_t index;
};

/// What an encoding adds to the scores of attention; Scalar is float or double. Const: any number of threads may ask.
template <class Scalar>
class ScoreBias {
 public:
  virtual ~ScoreBias() = default;

  /// The bias of the query and of as many keys, from index first_key on, as `room` has places: within 3 u of itself, u
  /// = 2^-24 or 2^-53 that of Scalar. It is in `room`, or where it stood already, and valid as long as both.
  virtual const Scalar* row(const QueryToken& query, std::int64_t first_key, std::span<Scalar> room) const = 0;
};

}  // namespace sextant
