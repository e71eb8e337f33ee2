#pragma once

// The bias of Raffel et al. 2019, T5; ci/consumer/relative_bias.cpp is an example.

#include "lib/relative_bias/relative_bias.hpp"
