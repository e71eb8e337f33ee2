#pragma once

// A position's binary digits; ci/consumer/binary.cpp is an example.

#include "lib/binary/binary.hpp"
