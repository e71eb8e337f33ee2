#pragma once

#include <istream>
#include <vector>

#include "lib/spec/hf_config.hpp"

namespace sextant {

/// What a GGUF file claims by its metadata, as llama.cpp runs it: pairing by `general.architecture`
/// (llama_model_rope_type), width, base and scaling by the keys ARCH.rope.*, and the divisors of the tensor
/// rope_freqs.weight where there is one, as a longrope whose two lists they are. Weights of Llama's architecture are
/// stored so that neighbours are pairs. Reads the head of the file and that tensor alone.
/// @throws SpecError, naming the key, for what is no GGUF of version 2 or 3 or is cut short, for an architecture that
/// is not known or whose steps differ from layer to layer (no key says how), and for what its keys leave open.
std::vector<ConfigClaim> claims_of_gguf(std::istream& file);

/// The architectures that are known, in the order of the alphabet.
std::vector<std::string_view> known_gguf_architectures();

}  // namespace sextant
