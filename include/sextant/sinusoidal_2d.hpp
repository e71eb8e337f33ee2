#pragma once

// The sinusoidal encoding of a grid, He et al. 2021; ci/consumer/sinusoidal_2d.cpp is an example.

#include "lib/sinusoidal_2d/sinusoidal_2d.hpp"
