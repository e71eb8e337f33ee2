#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "properties/identify/identification.hpp"
#include "properties/model/model.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What a subject answers to calls in which no other token can count, as far as a claim has them: of one token of one
/// row, at positions of every size, and of four that follow one by one. Of codes, rotations and their tables; of
/// what is judged otherwise nothing.
class ShortCalls {
 public:
  /// Asks them in a session of their own; what the subject refuses is left out. @throws SubjectFailure, Interrupted.
  ShortCalls(const Subject& subject, const Spec& claim);

  /// Asks one token at this position besides; one that the claim has not is left out. @throws likewise.
  void ask_at(std::int64_t position);

  /// Whether calls of one token were asked, and each is answered as claimed.
  bool are_single_tokens_right() const;

  /// Whether the four tokens, too near to 0 for a format's rounding to hide what differs, are answered as claimed.
  bool is_early_call_right() const;

  /// Whether a call is answered as claimed, which is surely no answer under `other`.
  bool refute(const Spec& other) const;

 private:
  struct Answered {
    Call call;
    Tensor answer;
    std::int64_t tokens = 1;
    bool is_right = false;
  };
  void ask(const Question& question);
  void spread_axes(std::vector<std::int64_t>& coordinates, std::int64_t position) const;

  Spec claim_;
  std::unique_ptr<EncodingModel> model_;
  std::unique_ptr<Judge> judge_;  // null of what is not asked
  std::unique_ptr<Session> session_;
  std::vector<Answered> answered_;
};

/// Whether the words of a fault name calls, or the tokens or rows of one: what is said without is said of a token
/// alone too.
bool names_calls(const Fault& fault);

/// Drops what short calls refute: fields of a spec under which such an answer is surely wrong that is right under the
/// probe, and, where each token alone is answered as the probe claims, what is said of positions, angles, frequencies,
/// tables or rotations without naming the calls. What is left in its place is vague. Every found sentence of a code or
/// a rotation passes here. @throws SubjectFailure, Interrupted.
void hold_to_short_calls(const Subject& subject, const Spec& probe, Identification& found);

}  // namespace sextant::identify
