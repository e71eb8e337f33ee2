#pragma once

// The norm of queries and keys, and their rotation; ci/consumer/qk_norm_rope.cpp is an example.

#include "lib/qk_norm_rope/qk_norm_rope.hpp"
