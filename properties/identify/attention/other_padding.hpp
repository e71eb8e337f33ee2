#pragma once

#include <functional>
#include <string>
#include <vector>

#include "lib/spec/attention.hpp"
#include "properties/identify/attention/other_attention.hpp"
#include "properties/model/attention_case.hpp"

namespace sextant::identify {

/// Other starts or ends of rows, which are those of their keys and, in a step, what its queries are the last of. The
/// change is given both, one for each row.
OtherAttention with_ends(std::string words, std::function<void(AttentionCase& request)> change);

/// Adds attention that takes the padding of a call for more, for less, or for another row's. @param request  has some
void add_other_padding(const Attention& claimed, const AttentionCase& request, std::vector<OtherAttention>& list);

}  // namespace sextant::identify
