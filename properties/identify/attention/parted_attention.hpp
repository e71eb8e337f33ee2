#pragma once

#include <functional>
#include <string>
#include <vector>

#include "properties/identify/attention/asked_attention.hpp"

namespace sextant::identify {

/// Some of the heads, or of the batch rows, of a call.
struct PartOfPlaces {
  enum class Of { heads, rows } of = Of::heads;
  std::string words;  ///< "in odd heads alone"
  std::function<bool(const AttentionPlaceOfHead& at)> holds;
};

/// Those that hold all wrong places and leave out a head, or a row: which are those of the wrong ones alone first. A
/// difference may leave a head or a row of them as claimed by chance.
std::vector<PartOfPlaces> parts_of(const AskedCase& asked, const std::vector<AttentionPlaceOfHead>& wrong,
                                   const Attention& claimed);

/// What explains an answer in such a part, the rest being as claimed, with where it applies.
std::vector<OtherAttention> explaining_in_part(const AskedCase& asked, const std::vector<OtherAttention>& others,
                                               const std::vector<PartOfPlaces>& parts);

}  // namespace sextant::identify
