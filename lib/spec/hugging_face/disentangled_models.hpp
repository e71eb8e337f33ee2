#pragma once

#include <vector>

#include "lib/spec/hf_config.hpp"
#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec: disentangled attention (He et al. 2020, arXiv 2006.03654), whose scores read rows of a table of
// relative positions. transformers 5.24, models/TYPE/modeling_TYPE.py.

namespace sextant::hugging_face {

/// DeBERTa: a row for each distance, up to the last.
std::vector<ConfigClaim> deberta(const Part& part);

/// DeBERTa-v2 and -v3: buckets where the file has them, else DeBERTa's.
std::vector<ConfigClaim> deberta_v2(const Part& part);

/// SEW-D: DeBERTa-v2's of frames of sound.
std::vector<ConfigClaim> sew_d(const Part& part);

}  // namespace sextant::hugging_face
