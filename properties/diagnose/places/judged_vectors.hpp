#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/diagnose/places/asked_places.hpp"
#include "properties/diagnose/places/call_traits.hpp"
#include "properties/diagnose/places/taken_places.hpp"
#include "properties/model/model.hpp"
#include "properties/model/question.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// What values are, where they are all the same of what they should be.
struct WrongValues {
  bool are_zero = false;
  bool are_given = false;                       ///< of a rotation: as they were before it
  std::optional<std::int64_t> of_channel = {};  ///< what stands so many channels further on in the right answer
  std::optional<Dtype> rounded = {};            ///< numbers of this format beside what they should be
  std::optional<double> times;                  ///< so many times what they should be, as the claim's own bound has it
};

/// Which of taken_places() a vector is the right one of, and of which nothing is said, as they are not claimed.
struct Others {
  PlaceSet right = {};
  PlaceSet unclaimed = {};
};

/// Another vector of the call, whose right answer a wrong vector may have.
enum class Neighbour { token_before, token_after, head_before, head_after, first_head, first_token, first_row };
inline constexpr std::size_t neighbours = 7;

/// A vector of a call, or a code, where it stands, and whether it is as near to the true one as is claimed.
struct JudgedVector {
  std::size_t call = 0;
  std::int64_t batch = 0;
  std::int64_t batches = 1;
  std::int64_t token = 0;
  std::int64_t tokens = 1;
  std::int64_t head = 0;
  std::int64_t heads = 1;
  std::int64_t position = 0;                               ///< the greatest of its coordinates
  std::array<std::int64_t, 3> coordinates = {-1, -1, -1};  ///< on the first three axes, where there are several
  std::int64_t row_first = 0;                              ///< the position of its row's first token, on one axis
  std::int64_t row_least = 0;                              ///< the least position of its row, likewise
  std::int64_t row_span = 0;                               ///< from there to the greatest, likewise
  std::int64_t call_greatest = 0;                          ///< the greatest position of its call
  Traits traits = 0;                                       ///< what follows from how the call's positions lie
  std::int64_t fall = 0;                                   ///< least_fall() of its row
  std::int64_t grid_rows = 0;                              ///< rows_before_first_again() of its row
  double size = 0;                                         ///< the greatest of its channels before it is turned
  double sum = 0;                                          ///< of those without their signs
  double token_sum = 0;                                    ///< likewise, of all heads of its token
  bool is_ordinary = true;  ///< not one of every magnitude or of (1, 0), where errors may be hidden
  bool is_wrong = false;
  std::vector<std::int64_t> wrong_channels = {};  ///< of some wrong vectors; empty of the others
  WrongValues values = {};                        ///< of those
  WrongValues whole = {};                         ///< of all its channels
  bool is_compared = false;                       ///< with the right ones of other positions
  Others others = {};
  std::bitset<neighbours> of_neighbours = {};    ///< whose right answers it has; of those that are compared
  std::bitset<neighbours> like_neighbours = {};  ///< whose right answers are its own, of a rotation
};

/// A wrong vector: the call of it alone, and what it is.
struct ComparedVector {
  Call alone;
  Tensor got;
};

/// Judges the vectors of calls. Of wrong ones channels are judged, beside those of `proposer`'s answer where it meets
/// the bound. Nothing of what is no code, no table and no rotation.
class VectorJudge {
 public:
  VectorJudge(const Subject& subject, const Spec& claim, const Subject& proposer);

  /// Calls that differ in the numbers of tokens, heads and batch rows, in positions and magnitudes, none of which
  /// follows from another: of many tokens, of one, near 0 and over the whole claim, in no order. @throws
  /// SubjectFailure, Interrupted.
  void ask_ordinary();

  /// A question of accuracy, in a session of its own, and others about one token, head, row or position more or less.
  /// @throws likewise.
  void ask_around(const Question& failing);

  /// The longest call that has both right and wrong vectors, once more, with all positions behind its greatest, which
  /// tells a token's number from its position. The first time alone. @throws likewise.
  void ask_further();

  /// The calls that accuracy always begins with, but long ones: positions in every order, grids in every walk. @throws
  /// likewise.
  void ask_first();

  /// Vectors of sizes on either side of this one, of a rotation. @throws likewise.
  void ask_sizes(double around);

  /// A few calls of a rotation that have wrong vectors, once more with smaller ones and with larger ones than this
  /// size, and a few that have right ones likewise: what goes by a size is wrong and right by turns there. @throws
  /// likewise.
  void ask_scaled(double around);

  /// Tokens at these positions, the same on every axis; those that the claim has not are left out. @throws likewise.
  void ask_at(const std::vector<std::int64_t>& positions);

  const std::vector<JudgedVector>& vectors() const { return made_; }

  /// Wrong vectors that were compared with the right ones of other positions, each by itself.
  const std::vector<ComparedVector>& compared() const { return compared_; }

  /// What a position's number counts.
  double step() const { return 1.0 / static_cast<double>(one_step_of(claim_)); }
  /// A call that was judged, and its answer; vectors have its number.
  struct Answered {
    Call call;
    Tensor answer;
  };
  const std::vector<Answered>& answered() const { return kept_; }

  /// The positions of a vector's call.
  const AskedPlaces& places_of(const JudgedVector& vector) const { return asked_[vector.call]; }

 private:
  void judge(const Call& call);
  /// Nothing where the subject refuses it, which tells nothing of values.
  std::optional<Tensor> answer_to(const Call& call);
  /// The proposer's answer, of the subject's size.
  Tensor proposed(const Call& call, const Tensor& answer);
  Tensor as_wide_as(const Tensor& answer, Tensor right) const;
  Others others_of(const Call& alone, const Tensor& got, const AskedPlaces& asked, const JudgedVector& vector);
  bool is_right_of_a_third(Judge& judge, const Call& taken, const JudgedVector& vector, const Tensor& got) const;
  std::bitset<neighbours> neighbours_of(const Call& call, const Tensor& got, const Tensor& right,
                                        const JudgedVector& vector);
  void ask_times(const Call& call, double times);

  // The claim with positions before 0, where there is such a spec.
  struct Wider {
    std::unique_ptr<EncodingModel> model;
    std::unique_ptr<Judge> judge;
    std::unique_ptr<Session> proposing;
  };
  Wider* wider();

  Spec claim_;
  const Subject& subject_;
  const Subject& proposer_;
  std::unique_ptr<EncodingModel> model_;
  std::optional<Wider> wider_;
  bool has_no_wider_ = false;
  bool is_judged_whole_;
  std::unique_ptr<Judge> judge_;
  std::unique_ptr<Session> session_;
  std::unique_ptr<Session> proposing_;
  AskedGrid grid_;
  std::vector<AskedPlaces> asked_;
  std::vector<Answered> kept_;
  std::vector<JudgedVector> made_;
  std::vector<ComparedVector> compared_;
  PlaceSet refuted_;  // by a vector that was compared
  bool has_asked_further_ = false;
};

}  // namespace sextant::identify
