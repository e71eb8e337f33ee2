#pragma once

// The sinusoidal encoding of Vaswani et al. 2017; ci/consumer/sinusoidal.cpp is an example.

#include "lib/sinusoidal/sinusoidal.hpp"
