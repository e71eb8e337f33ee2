#pragma once

// What an implementation claims to compute: specs, their JSON form, the presets, and a model's config.json as a spec.
// ci/consumer/spec.cpp is an example.

#include "lib/spec/hf_config.hpp"
#include "lib/spec/presets.hpp"
#include "lib/spec/spec.hpp"
