#pragma once

// Fourier features: NeRF's powers of two, matrices of frequencies; ci/consumer/fourier.cpp is an example.

#include "lib/fourier/fourier.hpp"
