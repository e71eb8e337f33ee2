#pragma once

// The bias of Swin's windows, Liu et al. 2021; ci/consumer/window_bias.cpp is an example.

#include "lib/window_bias/window_bias.hpp"
