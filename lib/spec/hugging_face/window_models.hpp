#pragma once

#include <vector>

#include "lib/spec/hf_config.hpp"
#include "lib/spec/hugging_face/part.hpp"

// Private to lib/spec: models whose tokens see each other within windows of an image (Swin and BEiT and what is made of
// them), whose image has sinusoids (DETR), and sinusoids of distances (XLNet) and of sound.

namespace sextant::hugging_face {

/// `swin`, `donut-swin` and `maskformer-swin`: SwinRelativePositionBias, and a table where the file asks for one.
std::vector<ConfigClaim> swin(const Part& part);

/// `swinv2`: the coordinates of each stage's windows (Swinv2Attention.create_coords_table_and_index).
std::vector<ConfigClaim> swinv2(const Part& part);

/// `beit` and `data2vec-vision`: BeitRelativePositionBias, and a table, where the file asks for them.
std::vector<ConfigClaim> beit(const Part& part);

/// `detr`, `conditional_detr`, `table-transformer`, and `deformable_detr`, whose codes are of the image at hand.
std::vector<ConfigClaim> detr(const Part& part);

/// `xlnet`: relative_positional_encoding.
std::vector<ConfigClaim> xlnet(const Part& part);

/// `qwen2_5_omni_audio_encoder`, `qwen3_omni_moe_audio_encoder`: SinusoidsPositionEmbedding.
std::vector<ConfigClaim> sound_sinusoids(const Part& part);

/// `qwen2_audio_encoder`: a table that comes with the weights.
std::vector<ConfigClaim> sound_table(const Part& part);

}  // namespace sextant::hugging_face
