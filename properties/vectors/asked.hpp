#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/model/model.hpp"
#include "properties/vectors/vector.hpp"
#include "subjects/subject.hpp"

namespace sextant::vectors {

/// What a vector asks: a question of accuracy of the encoding's model, with inputs that repeat a pattern, or a
/// variation of it.
enum class Kind : std::int64_t {
  plain,
  breaking,  ///< the positions where implementations break, unsorted and some twice, in place of the question's
  gradient,  ///< the backward pass
  nothing,   ///< a call of no tokens
  step,      ///< of attention: some of the last tokens alone, with the keys of all
  padded,    ///< of attention: rows of unequal lengths
  large,     ///< values beyond float16's range; in float16 its largest
  huge,      ///< values whose squares float32 cannot hold
  tiny,      ///< values below the least normal one
  alike,     ///< a weight whose columns are equal, opposite and constant
  special,   ///< pairs with NaN and infinities, which turn into such
  beyond,    ///< a position past the last of a lookup or a code of so many digits: to be refused
  below,     ///< a negative one of a lookup: likewise
};

struct Ask {
  Kind kind = Kind::plain;
  Question question;
};

/// The positions of a claim where implementations break: 0, the ends, 2^k and its neighbours, where scaling rules
/// switch and trained positions end; in no order, some twice. Of one axis.
std::vector<std::int64_t> breaking_positions(const EncodingModel& model);

/// Whether a call of that kind is to be refused.
bool is_refused(Kind kind);

/// Whether the spec has a call of that kind.
bool can_ask(const EncodingModel& model, Kind kind);

/// A pair of channels that a call of Kind::special has changed.
struct SpecialPair {
  std::int64_t vector;  ///< counted over batch rows, tokens and heads
  std::int64_t pair;    ///< of those that turn
  double first;
  double second;
};
std::vector<SpecialPair> special_pairs();

/// The call.
Call call_of(const EncodingModel& model, const Ask& ask);

/// One call as a subject is sent it, and its answer as the model has it.
struct Exchange {
  std::string operation;
  Tensors inputs;
  Tensors reply;
  Tensor answer;
};

/// Asks it. @throws what the session throws.
Exchange exchanged(Session& session, const EncodingModel& model, Kind kind, const Call& call);

/// The call as it was sent, where it is refused; nothing where it is answered.
std::optional<Exchange> refused(Session& session, const EncodingModel& model, const Call& call);

/// The answer as the model has it, of a subject that sent that reply.
Tensor answer_of(const EncodingModel& model, Kind kind, const Call& call, const Tensors& reply);

/// A reply to `table` as cosines and sines, in whichever order the subject has them; any other as it is.
/// @throws SubjectFailure where it has neither.
Tensors with_named_parts(const std::string& operation, Tensors reply);

/// Sends a call as a vector has it. @throws what the session throws.
Tensors send(Session& session, const std::string& operation, const Tensors& inputs);

}  // namespace sextant::vectors
