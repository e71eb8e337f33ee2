#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/spec/spec.hpp"
#include "properties/model/model.hpp"
#include "properties/verdict/diagnosis.hpp"
#include "subjects/subject.hpp"

namespace sextant::identify {

/// Which input of a call a vector is of: of `rotate` there is one.
enum class VectorSide { only, query, key };

/// A vector that a call asks to be turned, and where it stands.
struct VectorInCall {
  const Call& call;
  const Call& first_call;  ///< of its session
  std::int64_t axes;
  std::int64_t batches;
  std::int64_t tokens;
  std::int64_t heads;  ///< of its side
  std::int64_t query_heads;
  VectorSide side;
  std::int64_t batch;
  std::int64_t token;
  std::int64_t head;

  std::int64_t coordinate(std::int64_t axis, std::int64_t of_batch, std::int64_t of_token) const;
  std::vector<std::int64_t> place() const;
  /// Its number among those of its side, [batch, tokens, heads].
  std::int64_t number() const { return (batch * tokens + token) * heads + head; }
  /// The largest coordinate of its batch row + 1, and of the call.
  std::int64_t row_length(std::int64_t of_batch) const;
  std::int64_t call_length() const;
  /// Channels of vector `number` of its side.
  std::vector<double> values(std::int64_t of_number) const;
};

/// What a vector is taken for: one of another claim, at another place. What is empty is its own.
struct TakenVector {
  Spec spec;
  std::vector<std::int64_t> place;
  std::optional<Tensor> weight = std::nullopt;  ///< of qk_norm_rope
  /// What each channel of the answer is multiplied by to be the right one. It is rounded once more then, so that it is
  /// judged by three times the bound.
  std::vector<double> times = {};
  /// What is added to each channel of the answer to make it the right one: what the difference between two formulas
  /// comes to. It is rounded once more likewise.
  std::vector<double> plus = {};
  std::vector<double> given = {};  ///< what is turned in place of the vector; empty where it is the vector
  std::vector<std::int64_t> written =
      {};  ///< the channel in which each one of the right answer stands; empty for itself
  /// Channels that are not turned, and the number that each has, to a last place, in place of the vector's own.
  std::map<std::int64_t, double> passed = {};
  bool is_as_given = false;  ///< it is the vector itself, bit for bit
};

/// A rotation that is the claim's but for one thing, by what each vector is taken for; nothing of what it says nothing
/// of.
struct VectorReading {
  std::string words;
  DiagnosedStage stage = DiagnosedStage::other;
  std::function<std::optional<TakenVector>(const VectorInCall& vector)> taken;
};

/// One of the rows of qk_norm_rope's weight [2, head_dim].
Tensor weight_row(const Tensor& weights, std::int64_t row);

/// The extents of a call that is asked, and its positions [axes, batches, tokens].
struct CallPlaces {
  std::int64_t batches;
  std::int64_t heads;
  std::vector<std::int64_t> positions;
  double times = 1;  ///< what drawn vectors are multiplied by
};

/// Answers to calls of a rotation, of which some vectors are held against several readings, each by itself.
class AskedVectors {
 public:
  AskedVectors(Session& session, const Spec& claim);

  /// Asks a call; positions that the claim has not leave it out. @throws SubjectFailure, Interrupted.
  void ask(const CallPlaces& places);

  /// Asks a call that is the first of another session. @throws likewise.
  void ask_alone(Session& session, Call call);

  /// Takes a call that was asked elsewhere, of which these vectors are looked at, by their numbers in the answer.
  void take(Call call, Tensor answer, const std::vector<std::int64_t>& vectors);

  /// Takes the vectors that this reading, the claim's own, does not explain for wrong; says how many they are.
  std::int64_t find_wrong(const VectorReading& own);

  /// Whether a reading explains every vector of which it says something, and says something of a wrong one. Of one that
  /// is judged by three times the bound a wrong vector counts that the claim does not explain by as much either.
  bool are_explained(const VectorReading& reading);

  /// The same of those vectors alone for which this is true.
  bool are_explained(const VectorReading& reading, const std::function<bool(const VectorInCall& vector)>& counts);

  /// Whether some vector for which this is true is wrong.
  bool are_any_wrong(const std::function<bool(const VectorInCall& vector)>& counts) const;

  /// The number of tokens of the shortest call that has a wrong vector.
  std::optional<std::int64_t> fewest_tokens_of_wrong() const;

  /// The wrong vectors are those for which this is true; at position 0, which shows no angle, nothing is known. There
  /// are vectors that are right.
  bool are_wrong_where(const std::function<bool(const VectorInCall& vector)>& holds) const;

  /// The greatest value of the answers that are looked at, where it stands there often: what results are limited to.
  std::optional<double> often_greatest() const;

 private:
  struct Answered {
    Call call;
    Tensor answer;
    std::int64_t batches;
    std::int64_t tokens;
    std::int64_t heads;
    std::int64_t key_heads;
    std::size_t first = 0;  // the first answer of its session
  };
  void add(Call call, Tensor answer, std::size_t first);
  struct Looked {
    std::size_t answer;
    std::int64_t vector;  // of the answer
    bool is_wrong = false;
    bool is_far_wrong = false;  // by more than three times the bound
  };
  struct Judged {
    std::unique_ptr<EncodingModel> model;
    std::unique_ptr<Judge> judge;
  };

  VectorInCall vector_of(const Looked& one) const;
  bool is_explained(const Looked& one, const TakenVector& taken, double bounds);
  Judged* judge_of(const Spec& spec);

  Session& session_;
  Spec claim_;
  std::unique_ptr<EncodingModel> model_;
  std::vector<Answered> answers_;
  std::vector<Looked> looked_;
  std::map<std::string, Judged> judges_;
};

}  // namespace sextant::identify
