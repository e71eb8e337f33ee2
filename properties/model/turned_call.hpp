#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/model/attention_part.hpp"
#include "properties/model/model.hpp"
#include "properties/model/screen.hpp"
#include "reference/rope.hpp"

namespace sextant {

/// What the laws of rotations ask about: calls of rotate with vectors of many kinds and magnitudes at positions of
/// every axis, and what is true of their pairs. Of a spec whose model has a turning(); an object belongs to one thread.
class Rotations {
 public:
  /// The channels of a pair, before and after.
  struct PairChannels {
    Channels from;
    Channels to;
  };

  explicit Rotations(const Spec& spec) : model_(model_of(spec)), oracle_(model_->turning()) {
    for (std::int64_t pair = 0; pair < pairs(head()); ++pair)
      channels_.push_back(
          {channels_of_pair(head(), head().pairing, pair), channels_of_pair(head(), head().output_pairing, pair)});
  }

  const Rope& head() const { return oracle_->head(); }
  const std::vector<PairChannels>& channels() const { return channels_; }
  TurningOracle& oracle() const { return *oracle_; }

  /// The call of a question of accuracy, of vectors that are drawn.
  Call call(Question question) const {
    ++question.fill;
    return model_->accuracy_call(question);
  }

  /// Asks it. @throws what operations.hpp says.
  Tensor ask(Session& session, const Call& call) const { return model_->ask(session, call); }

  /// reference::row_lengths of a call.
  std::vector<std::int64_t> lengths(const Call& call) const {
    return reference::row_lengths(length_scope(head().rope_scaling), call.positions, call.vectors[0].shape[0]);
  }

  /// Where a vector of a call stands, counted over batch rows, tokens and heads. @param lengths  the call's
  VectorPlace place(const Call& call, std::int64_t vector, std::span<const std::int64_t> lengths) const {
    const Tensor& x = call.vectors[0];
    const std::int64_t tokens = x.shape[0] * x.shape[1];
    const std::int64_t token = vector / x.shape[2];
    return {place_at(call.positions, tokens, token), lengths[static_cast<std::size_t>(token / x.shape[1])],
            oracle_->role()};
  }

 private:
  std::shared_ptr<const EncodingModel> model_;
  std::shared_ptr<TurningOracle> oracle_;
  std::vector<PairChannels> channels_;
};

/// A pair of channels as floating point has it.
struct GivenPair {
  double first;
  double second;

  bool finite() const { return std::isfinite(first) && std::isfinite(second); }
  /// Within 3 2^-52 of itself.
  double length() const {
    const double quick = norm_in<double>(first, second);
    return std::isnan(quick) ? std::hypot(first, second) : quick;
  }
  reference::RealPair real(reference::Precision precision) const {
    return {reference::Enclosure(first, precision), reference::Enclosure(second, precision)};
  }
};

inline GivenPair pair_in(std::span<const double> vector, const Channels& channels) {
  return {vector[static_cast<std::size_t>(channels.first)], vector[static_cast<std::size_t>(channels.second)]};
}
inline GivenPair pair_in(const Tensor& tensor, std::int64_t start, const Channels& channels) {
  return {tensor.at(start + channels.first), tensor.at(start + channels.second)};
}

inline reference::Enclosure length_of(const reference::RealPair& x) { return hypot(x.first, x.second); }

/// "position 5/7, vector 3". @param head  of the call
inline std::string text_of(const VectorPlace& place, const Rope& head, std::int64_t vector) {
  return fmt::format("position {}, vector {}", text_of_place(head.positions, place.coordinates), vector);
}

}  // namespace sextant
