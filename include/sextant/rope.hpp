#pragma once

// The rotary encoding of Su et al. 2021 under any scaling rule; ci/consumer/rope.cpp is an example.

#include "lib/rope/rope.hpp"
