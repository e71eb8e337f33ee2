#pragma once

// The rotary encoding with decay of Sun et al. 2022; ci/consumer/xpos.cpp is an example.

#include "lib/xpos/xpos.hpp"
