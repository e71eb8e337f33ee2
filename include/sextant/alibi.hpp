#pragma once

// The bias of Press et al. 2021; ci/consumer/alibi.cpp is an example.

#include "lib/alibi/alibi.hpp"
