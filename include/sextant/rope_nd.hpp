#pragma once

// Rotary encoding of positions with several coordinates, M-RoPE among them; ci/consumer/rope_nd.cpp is an example.

#include "lib/rope_nd/rope_nd.hpp"
