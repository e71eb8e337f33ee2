#pragma once

namespace sextant::vectors {

/// Prints what is asked again in 16 bits, as properties/vectors/chosen_narrow.def has it: of each claim in float32 that
/// chosen.def has, in bfloat16 and float16, those of its questions that it takes to convict its mutants there.
void choose_narrow();

}  // namespace sextant::vectors
