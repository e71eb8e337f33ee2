#include "lib/spec/presets.hpp"

#include <array>

namespace sextant {
namespace {

// Settings as published in each model's paper or config.json.
constexpr std::array<Preset, 63> table{{
    {"transformer-512", "Vaswani et al. 2017, section 3.5, d_model = 512",
     "Vaswani et al. 2017, section 3.5; arXiv:1706.03762", R"({"encoding":"sinusoidal","dim":512})"},
    {"tensor2tensor-512", "tensor2tensor's timing signal: sines, then cosines, divisor d/2 - 1",
     "tensorflow/tensor2tensor, layers/common_attention.py, get_timing_signal_1d",
     R"({"encoding":"sinusoidal","dim":512,"layout":"concatenated","denominator":"half_minus_one"})"},
    {"marian-512", "Marian as ported to transformers: sines, then cosines",
     "transformers, models/marian/modeling_marian.py, MarianSinusoidalPositionalEmbedding",
     R"({"encoding":"sinusoidal","dim":512,"layout":"concatenated","max_position":512})"},
    {"xlnet-large", "XLNet large, and Transformer-XL: sinusoids of distances, which are negative for tokens ahead",
     "transformers, models/xlnet/modeling_xlnet.py, relative_positional_encoding; xlnet/xlnet-large-cased, config.json",
     R"({"encoding":"sinusoidal","dim":1024,"layout":"concatenated","min_position":-511,"max_position":513})"},
    // hojonathanho/diffusion, diffusion_tf/nn.py, get_timestep_embedding, and models/unet.py, of which ch is 128 for
    // CIFAR-10; as google/ddpm-cifar10-32 has it: freq_shift 1, flip_sin_to_cos false.
    {"ddpm-timestep", "DDPM for CIFAR-10, its timesteps: sines, then cosines, divisor d/2 - 1",
     "hojonathanho/diffusion, diffusion_tf/nn.py, get_timestep_embedding; google/ddpm-cifar10-32, config.json",
     R"({"encoding":"sinusoidal","dim":128,"layout":"concatenated","denominator":"half_minus_one",)"
     R"("max_position":1000})"},
    // unet/config.json: block_out_channels from 320, flip_sin_to_cos true, freq_shift 0; diffusers, embeddings.py.
    {"stable-diffusion-1.5-timestep", "Stable Diffusion 1.5, its timesteps: cosines, then sines",
     "stable-diffusion-v1-5, unet/config.json; diffusers, models/embeddings.py",
     R"({"encoding":"sinusoidal","dim":320,"layout":"concatenated","first":"cos","max_position":1000})"},
    // black-forest-labs/flux, modules/layers.py, timestep_embedding of time_factor 1000, and model.py: 256 channels.
    {"flux-timestep", "FLUX.1, its timesteps in [0, 1], real ones, times 1000: cosines, then sines",
     "black-forest-labs/flux, modules/layers.py, timestep_embedding",
     R"({"encoding":"sinusoidal","dim":256,"layout":"concatenated","first":"cos","angle_scale":1000,)"
     R"("position_dtype":"float32","position_step":9.5367431640625e-07,"max_position":1.00000095367431640625})"},
    {"gpt-j-6b", "GPT-J 6B: interleaved pairs, 64 of 256 channels", "EleutherAI/gpt-j-6b, config.json",
     R"({"encoding":"rope","head_dim":256,"rotary_dim":64,"pairing":"interleaved","max_position":2048})"},
    {"gpt-neox-20b", "GPT-NeoX 20B: half pairing, a quarter of the channels", "EleutherAI/gpt-neox-20b, config.json",
     R"({"encoding":"rope","head_dim":96,"partial_rotary_factor":0.25,"max_position":2048})"},
    {"llama-2-7b", "Llama 2 7B", "meta-llama/Llama-2-7b-hf, config.json",
     R"({"encoding":"rope","head_dim":128,"max_position":4096})"},
    {"llama-3-8b", "Llama 3 8B", "meta-llama/Meta-Llama-3-8B, config.json",
     R"({"encoding":"rope","head_dim":128,"rope_theta":500000,"max_position":8192})"},
    {"qwen2-7b", "Qwen2 7B", "Qwen/Qwen2-7B, config.json",
     R"({"encoding":"rope","head_dim":128,"rope_theta":1000000,"max_position":131072})"},
    {"llama-3.1-8b", "Llama 3.1 8B: Llama 3's frequencies, the long wavelengths stretched 8 times",
     "meta-llama/Llama-3.1-8B, config.json",
     R"({"encoding":"rope","head_dim":128,"rope_theta":500000,"rope_scaling":{"rope_type":"llama3","factor":8,)"
     R"("original_max_position_embeddings":8192,"low_freq_factor":1,"high_freq_factor":4},"max_position":131072})"},
    {"qwen2.5-7b-yarn", "Qwen2.5 7B Instruct with the YaRN setting of its model card",
     "Qwen/Qwen2.5-7B-Instruct, config.json with the rope_scaling of its README.md",
     R"({"encoding":"rope","head_dim":128,"rope_theta":1000000,"rope_scaling":{"rope_type":"yarn","factor":4,)"
     R"("original_max_position_embeddings":32768},"max_position":131072})"},
    {"deepseek-v3", "DeepSeek-V3: YaRN on the 64 rotated channels, interleaved in, halves out",
     "deepseek-ai/DeepSeek-V3, config.json and modeling_deepseek.py",
     R"({"encoding":"rope","head_dim":64,"pairing":"interleaved",)"
     R"("output_pairing":"half","rope_scaling":{"rope_type":"yarn",)"
     R"("factor":40,"original_max_position_embeddings":4096,"beta_fast":32,)"
     R"("beta_slow":1,"mscale":1,"mscale_all_dim":1},)"
     R"("max_position":163840})"},
    {"deepseek-v3-head", "DeepSeek-V3, whole heads of 192 channels, of which the last 64 turn",
     "deepseek-ai/DeepSeek-V3, config.json and modeling_deepseek.py",
     R"({"encoding":"rope","head_dim":192,"rotary_dim":64,"rotary_layout":"suffix","pairing":"interleaved",)"
     R"("output_pairing":"half","rope_scaling":{"rope_type":"yarn",)"
     R"("factor":40,"original_max_position_embeddings":4096,"beta_fast":32,)"
     R"("beta_slow":1,"mscale":1,"mscale_all_dim":1},)"
     R"("max_position":163840})"},
    {"qwen2-vl-7b", "Qwen2-VL 7B: time, height and width share the pairs in blocks",
     "Qwen/Qwen2-VL-7B-Instruct, config.json",
     R"({"encoding":"rope_nd","head_dim":128,"sections":[16,24,24],"rope_theta":1000000,"max_position":32768})"},
    {"qwen3.5-27b", "Qwen3.5 27B: axes by turns, a quarter of the channels", "Qwen/Qwen3.5-27B, config.json",
     R"({"encoding":"rope_nd","head_dim":256,"rotary_dim":64,"sections":[11,11,10],"section_order":"interleaved",)"
     R"("rope_theta":10000000,"max_position":262144})"},
    {"qwen2-vl-7b-vision", "Qwen2-VL 7B, the tower: rows and columns, each with frequencies of its own",
     "Qwen/Qwen2-VL-7B-Instruct, config.json; transformers, models/qwen2_vl/modeling_qwen2_vl.py",
     R"({"encoding":"rope_nd","head_dim":80,"sections":[20,20],"frequencies":"per_axis"})"},
    {"pixtral-vision", "Pixtral's tower in Mistral Small 3.1: one list of frequencies, dealt out to rows and columns",
     "mistralai/Mistral-Small-3.1-24B-Instruct-2503, config.json; transformers, models/pixtral/modeling_pixtral.py",
     R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"dealt","max_position":110})"},
    {"llama-4-vision", "Llama 4 Scout, the tower: columns first, both counted from 1, the class token at 0",
     "meta-llama/Llama-4-Scout-17B-16E, config.json; transformers, models/llama4/modeling_llama4.py",
     R"({"encoding":"rope_nd","head_dim":88,"sections":[22,22],"frequencies":"per_axis","axis_order":[1,0],)"
     R"("pairing":"interleaved","max_position":25})"},
    {"gemma-4-vision", "Gemma 4 E2B, the tower: columns first, each axis paired within its half of the head",
     "google/gemma-4-E2B, config.json; transformers, models/gemma4/modeling_gemma4.py",
     R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"per_axis","axis_order":[1,0],)"
     R"("pairing_scope":"axis","rope_theta":100})"},
    {"dinov3-vit-b16", "DINOv3 ViT-B/16 at 224 pixels: the middles of 14 x 14 patches in [-1, 1], of a whole turn",
     "facebook/dinov3-vitb16-pretrain-lvd1689m, config.json; transformers, models/dinov3_vit/modeling_dinov3_vit.py",
     R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"per_axis","rope_theta":100,)"
     R"("coordinates":"normalized","extents":[14,14]})"},
    {"dinov3-vit-b16-rescaled", "DINOv3 ViT-B/16 in training: the most of its default rescaling, coordinates doubled",
     "facebook/dinov3-vitb16-pretrain-lvd1689m, config.json, pos_embed_rescale 2",
     R"({"encoding":"rope_nd","head_dim":64,"sections":[16,16],"frequencies":"per_axis","rope_theta":100,)"
     R"("coordinates":"normalized","extents":[14,14],"coordinate_scales":[2,2]})"},
    {"flux-1", "FLUX.1, as in diffusers: 16, 56 and 56 channels for three axes",
     "black-forest-labs/flux, model.py, axes_dim; diffusers, models/transformers/transformer_flux.py",
     R"({"encoding":"rope_nd","head_dim":128,"sections":[8,28,28],"frequencies":"per_axis","pairing":"interleaved"})"},
    {"wan-2.1", "Wan 2.1, as in diffusers: 44, 42 and 42 channels for frame, row and column",
     "diffusers, models/transformers/transformer_wan.py, WanRotaryPosEmbed",
     R"({"encoding":"rope_nd","head_dim":128,"sections":[22,21,21],"frequencies":"per_axis",)"
     R"("pairing":"interleaved","max_position":1024})"},
    // rope_interpolation_scale of its pipeline at 25 frames a second: 8/25, 32, 32.
    {"ltx-video", "LTX-Video, as in diffusers: frequencies from 1 to 10000 of quarters of turns, axes by turns",
     "HaCohen et al. 2025, arXiv:2501.00103; Lightricks/LTX-Video, transformer/config.json; diffusers, "
     "models/transformers/transformer_ltx.py, LTXVideoRotaryPosEmbed",
     R"({"encoding":"rope_nd","head_dim":2048,"rotary_dim":2046,"rotary_layout":"suffix","pairing":"interleaved",)"
     R"("sections":[341,341,341],"section_order":"interleaved","frequencies":"per_axis","ladder":"both_ends",)"
     R"("coordinates":"normalized_starts","extents":[125,64,64],"coordinate_shifts":[0.5,0,0],)"
     R"("coordinate_scales":[0.5,0.25,0.25]})"},
    {"smollm3-3b-nope", "SmolLM3 3B, every fourth layer: no positions",
     "HuggingFaceTB/SmolLM3-3B, config.json, no_rope_layers",
     R"({"encoding":"rope","head_dim":128,"rope_scaling":{"rope_type":"none"},"max_position":65536})"},
    {"llama-4-scout-nope", "Llama 4 Scout, every fourth layer: no positions",
     "meta-llama/Llama-4-Scout-17B-16E, config.json, no_rope_layers",
     R"({"encoding":"rope","head_dim":128,"rope_scaling":{"rope_type":"none"},"max_position":10485760})"},
    {"llama-4-scout-query-scale", "Llama 4 Scout, every fourth layer: no positions, queries scaled by theirs",
     "meta-llama/Llama-4-Scout-17B-16E, config.json, attn_scale and floor_scale",
     R"({"encoding":"attention","num_heads":40,"num_kv_heads":8,"head_dim":128,"causal":true,)"
     R"("position":{"encoding":"rope","head_dim":128,"rope_scaling":{"rope_type":"none"}},)"
     R"("query_scale":{"amount":0.1,"period":8192,"offset":1},"max_position":10485760})"},
    {"ministral-3-8b-query-scale", "Ministral 3 8B: YaRN, and queries scaled by their positions",
     "mistralai/Ministral-3-8B, config.json, llama_4_scaling_beta",
     R"({"encoding":"attention","num_heads":32,"num_kv_heads":8,"head_dim":128,"causal":true,)"
     R"("position":{"encoding":"rope","head_dim":128,"rope_theta":1000000,"rope_scaling":{"rope_type":"yarn",)"
     R"("factor":16,"original_max_position_embeddings":16384,"beta_fast":32,"beta_slow":1,"mscale":1,)"
     R"("mscale_all_dim":1}},"query_scale":{"amount":0.1,"period":16384},"max_position":262144})"},
    {"qwen-7b", "Qwen 7B: the base grows where lengths double",
     "Qwen/Qwen-7B, config.json, use_dynamic_ntk; modeling_qwen.py, get_ntk_alpha, of each row",
     R"({"encoding":"rope","head_dim":128,"rope_scaling":{"rope_type":"dynamic","factor":2,)"
     R"("original_max_position_embeddings":8192,"length_scope":"row","length_steps":"doublings"},)"
     R"("max_position":32767})"},
    {"qwen-7b-log-n", "Qwen 7B: the same, and queries times the logarithm of their number to base 8192",
     "Qwen/Qwen-7B, config.json, use_logn_attn; modeling_qwen.py, logn_list",
     R"({"encoding":"attention","num_heads":32,"head_dim":128,"causal":true,"position":{"encoding":"rope",)"
     R"("head_dim":128,"rope_scaling":{"rope_type":"dynamic","factor":2,"original_max_position_embeddings":8192,)"
     R"("length_scope":"row","length_steps":"doublings"}},"query_scale":{"rule":"log_n","length":8192,"offset":1},"max_position":32767})"},
    // rms_norm_eps of both; transformers, models/gemma3/modeling_gemma3.py, Gemma3RMSNorm, has 1 + weight.
    {"qwen3-8b-qk-norm", "Qwen3 8B: the norm of queries and keys, and their rotation, as one operation",
     "Qwen/Qwen3-8B, config.json; transformers, models/qwen3/modeling_qwen3.py, Qwen3RMSNorm",
     R"({"encoding":"qk_norm_rope","head_dim":128,"rope_theta":1000000,"max_position":40960})"},
    {"gemma-3-qk-norm", "Gemma 3 4B, a global layer: the norm of queries and keys by 1 + weight, and their rotation",
     "google/gemma-3-4b-it, config.json; transformers, models/gemma3/modeling_gemma3.py, Gemma3RMSNorm",
     R"({"encoding":"qk_norm_rope","head_dim":256,"rope_theta":1000000,"weight_offset":1,)"
     R"("rope_scaling":{"rope_type":"linear","factor":8}})"},
    {"torchscale-xpos", "torchscale 0.3's decoder with xpos_rel_pos, a query: powers from half the call, rounded up",
     "Sun et al. 2022, arXiv:2212.10554; microsoft/torchscale, component/xpos_relative_position.py",
     R"({"encoding":"xpos","head_dim":64,"pairing":"interleaved","centre":"ceil_half","max_position":1024})"},
    {"bloom-7b1", "BLOOM 7B1: ALiBi as slope times key position",
     "bigscience/bloom-7b1, config.json; transformers, models/bloom/modeling_bloom.py, build_alibi_tensor",
     R"({"encoding":"alibi","num_heads":32,"form":"key_index","max_position":2048})"},
    {"mpt-7b", "MPT 7B: ALiBi", "mosaicml/mpt-7b, config.json",
     R"({"encoding":"alibi","num_heads":32,"max_position":2048})"},
    {"mpt-7b-storywriter", "MPT 7B StoryWriter: ALiBi, exponents to 16",
     "mosaicml/mpt-7b-storywriter, config.json, alibi_bias_max",
     R"({"encoding":"alibi","num_heads":32,"bias_max":16,"max_position":65536})"},
    {"falcon-rw-1b",
     "Falcon RW 1B: ALiBi as bfloat16 slope times key position; transformers rounds positions and products to bfloat16 "
     "too, in any dtype",
     "tiiuae/falcon-rw-1b, config.json; transformers, models/falcon/modeling_falcon.py, build_alibi_tensor",
     R"({"encoding":"alibi","num_heads":32,"form":"key_index","slope_dtype":"bfloat16"})"},
    {"t5-small", "T5 small, the encoder: 32 buckets up to distance 128",
     "Raffel et al. 2020, arXiv:1910.10683; google-t5/t5-small, config.json",
     R"({"encoding":"relative_bias","num_buckets":32,"max_distance":128,"bidirectional":true,"max_position":512})"},
    {"onnxruntime-t5-decoder", "ONNX Runtime's RelativePositionBias, T5's decoder: keys after the query are mirrored",
     "microsoft/onnxruntime, contrib_ops, RelativePositionBias",
     R"({"encoding":"relative_bias","num_buckets":32,"max_distance":128,"bidirectional":false,)"
     R"("later_keys":"mirrored","max_position":512})"},
    {"deberta-v3-base", "DeBERTa-v3 base: logarithmic rows of relative positions, 256 each way up to distance 512",
     "He et al. 2021, arXiv:2111.09543; microsoft/deberta-v3-base, config.json; transformers, "
     "models/deberta_v2/modeling_deberta_v2.py, make_log_bucket_position",
     R"({"encoding":"relative_bias","buckets":"log","num_buckets":512,"max_distance":512})"},
    {"deberta-base", "DeBERTa base: a row for each relative position, 512 each way",
     "He et al. 2020, arXiv:2006.03654; microsoft/deberta-base, config.json; transformers, "
     "models/deberta/modeling_deberta.py, build_relative_position",
     R"({"encoding":"relative_bias","buckets":"clipped","num_buckets":1024})"},
    {"swin-tiny", "Swin-T: windows of 7 x 7 tokens",
     "Liu et al. 2021, arXiv:2103.14030; microsoft/swin-tiny-patch4-window7-224, config.json",
     R"({"encoding":"window_bias","window":[7,7]})"},
    {"video-swin-tiny", "Video Swin-T: windows of 8 frames of 7 x 7 tokens", "Liu et al. 2021, arXiv:2106.13230",
     R"({"encoding":"window_bias","window":[8,7,7]})"},
    {"beit-base", "BEiT-B/16 at 224 pixels: 14 x 14 patches behind a class token",
     "Bao et al. 2021, arXiv:2106.08254; microsoft/beit-base-patch16-224, config.json",
     R"({"encoding":"window_bias","window":[14,14],"class_token":"first"})"},
    {"swinv2-tiny-window8", "Swin v2-T at 256 pixels: offsets within windows of 8 x 8",
     "Liu et al. 2021, arXiv:2111.09883; microsoft/swinv2-tiny-patch4-window8-256, config.json",
     R"({"encoding":"log_coordinates","window":[8,8],"min_position":-7,"max_position":8})"},
    {"swinv2-base-window12to24", "Swin v2-B, windows of 12 x 12 in pretraining and 24 x 24 after, as its configuration",
     "Liu et al. 2021, arXiv:2111.09883; microsoft/swinv2-base-patch4-window12to24-192to384-22kto1k-ft, config.json",
     R"({"encoding":"log_coordinates","window":[24,24],"pretrained_window":[12,12],)"
     R"("min_position":-23,"max_position":24})"},
    {"mae-vit-base", "MAE ViT-Base, the encoder: 14 x 14 patches, width first as in its code",
     "He et al. 2021, arXiv:2111.06377; facebookresearch/mae, util/pos_embed.py",
     R"({"encoding":"sinusoidal_2d","dim":768,"height":14,"width":14,)"
     R"("layout":"concatenated","axis_order":"width_first"})"},
    {"loftr", "LoFTR and kornia's port, the coarse level: columns and rows by turns, counted from 1",
     "Sun et al. 2021, arXiv:2104.00680; zju3dv/LoFTR, loftr/utils/position_encoding.py",
     R"({"encoding":"sinusoidal_nd","dim":256,"extents":[256,256],"axis_order":[1,0],)"
     R"("channel_order":"alternating","position_offset":1})"},
    {"detr-r50", "DETR ResNet-50, an image of 25 x 34 cells: rows, then columns, up to a whole turn",
     "Carion et al. 2020, arXiv:2005.12872; facebookresearch/detr, models/position_encoding.py",
     R"({"encoding":"sinusoidal_nd","dim":256,"extents":[25,34],"position_offset":1,"coordinates":"normalized",)"
     R"("epsilon":1e-6})"},
    {"cogvideox-2b", "CogVideoX 2B, as in diffusers: 13 frames of 30 x 45 patches, time, columns, rows",
     "diffusers, models/embeddings.py, get_3d_sincos_pos_embed; THUDM/CogVideoX-2b, transformer/config.json",
     R"({"encoding":"sinusoidal_nd","dim":1920,"extents":[13,30,45],"channels":[480,720,720],"axis_order":[0,2,1],)"
     R"("layout":"concatenated","scales":[1,1.875,1.875]})"},
    {"v-jepa-vit-l", "V-JEPA ViT-L/16, 16 frames of 224 pixels: three equal axes, the last one cut",
     "facebookresearch/jepa, src/models/utils/pos_embs.py, get_3d_sincos_pos_embed",
     R"({"encoding":"sinusoidal_nd","dim":1024,"extents":[8,14,14],"channels":[342,342,342],)"
     R"("layout":"concatenated"})"},
    {"positional-encodings-3d", "positional-encodings 6.0.3, PositionalEncoding3D(64): equal axes, the last one cut",
     "positional-encodings 6.0.3 (PyPI), PositionalEncoding3D",
     R"({"encoding":"sinusoidal_nd","dim":64,"extents":[16,16,16]})"},
    // bmild/nerf, run_nerf_helpers.py, get_embedder, and run_nerf.py, multires 10 and multires_views 4.
    {"nerf-positions", "NeRF's released code, a point: x, then sines and cosines of 1 to 512 times it, without pi",
     "bmild/nerf, run_nerf_helpers.py, get_embedder, multires 10",
     R"({"encoding":"fourier","axes":3,"bands":10,"identity":"first","position_dtype":"float32",)"
     R"("position_step":9.5367431640625e-07,"min_position":-8,"max_position":8})"},
    {"nerf-directions", "NeRF's released code, a direction: four frequencies",
     "bmild/nerf, run_nerf_helpers.py, get_embedder, multires_views 4",
     R"({"encoding":"fourier","axes":3,"bands":4,"identity":"first","position_dtype":"float32",)"
     R"("position_step":1.1920928955078125e-07,"min_position":-1,"max_position":1.0000001192092896})"},
    {"nerf-paper-positions", "Mildenhall et al. 2020, section 5.1, a point: with pi, axis by axis",
     "Mildenhall et al. 2020, section 5.1; arXiv:2003.08934",
     R"({"encoding":"fourier","axes":3,"bands":10,"angle_unit":"half_turn",)"
     R"("channel_order":"axis_frequency_function","position_dtype":"float32",)"
     R"("position_step":1.1920928955078125e-07,"min_position":-1,"max_position":1.0000001192092896})"},
    // nerfstudio, models/vanilla_nerf.py: NeRFEncoding(3, 10, 0.0, 8.0, include_input=True), and 4 of 0.0 to 4.0.
    {"nerfstudio-vanilla-positions", "nerfstudio's vanilla NeRF, a point: ten frequencies from 1 to 256 turns, x last",
     "nerfstudio, models/vanilla_nerf.py, NeRFEncoding(3, 10, 0.0, 8.0)",
     R"({"encoding":"fourier","axes":3,"bands":10,"highest":8,"angle_unit":"turn",)"
     R"("channel_order":"function_axis_frequency","identity":"last","position_dtype":"float32",)"
     R"("position_step":9.5367431640625e-07,"min_position":-8,"max_position":8})"},
    {"nerfstudio-vanilla-directions", "nerfstudio's vanilla NeRF, a direction: four frequencies from 1 to 16 turns",
     "nerfstudio, models/vanilla_nerf.py, NeRFEncoding(3, 4, 0.0, 4.0)",
     R"({"encoding":"fourier","axes":3,"bands":4,"highest":4,"angle_unit":"turn",)"
     R"("channel_order":"function_axis_frequency","identity":"last","position_dtype":"float32",)"
     R"("position_step":1.1920928955078125e-07,"min_position":-1,"max_position":1.0000001192092896})"},
    // facebookresearch/segment-anything, modeling/prompt_encoder.py, PositionEmbeddingRandom(256 / 2): x before y;
    // build_sam.py: a 1024 x 1024 image is 64 x 64 cells.
    {"sam-image", "Segment Anything, the image embedding: middles of 64 x 64 cells, columns first, by its matrix",
     "facebookresearch/segment-anything, modeling/prompt_encoder.py, PositionEmbeddingRandom",
     R"({"encoding":"fourier","bands":128,"ladder":"weight","coordinates":"centres","extents":[64,64]})"},
    {"sam-points", "Segment Anything, points and corners of boxes: pixels of a 1024 x 1024 image, fractions too",
     "facebookresearch/segment-anything, modeling/prompt_encoder.py, PositionEmbeddingRandom",
     R"({"encoding":"fourier","bands":128,"ladder":"weight","coordinates":"centres","extents":[1024,1024],)"
     R"("position_dtype":"float32"})"},
    // transformers, models/perceiver/modeling_perceiver.py, PerceiverForImageClassificationFourier, 224 pixels:
    // num_bands 64, max_resolution (224, 224), concat_pos.
    {"perceiver-imagenet",
     "Perceiver for ImageNet, Fourier features: 64 frequencies from 1 to 112 half turns, 258 wide",
     "transformers, models/perceiver/modeling_perceiver.py, PerceiverForImageClassificationFourier",
     R"({"encoding":"fourier","bands":64,"ladder":"linear","highest":112,"angle_unit":"half_turn",)"
     R"("channel_order":"function_axis_frequency","identity":"first","coordinates":"ends","extents":[224,224]})"},
}};

}  // namespace

std::span<const Preset> presets() { return table; }

std::optional<Preset> preset_named(std::string_view name) {
  for (const Preset& preset : table) {
    if (preset.name == name) return preset;
  }
  return std::nullopt;
}

}  // namespace sextant
