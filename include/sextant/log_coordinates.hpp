#pragma once

// The log-spaced coordinates of Swin v2's windows, Liu et al. 2022; ci/consumer/log_coordinates.cpp is an example.

#include "lib/log_coordinates/log_coordinates.hpp"
