#pragma once

// The plain number of a position; ci/consumer/integer.cpp is an example.

#include "lib/integer/integer.hpp"
