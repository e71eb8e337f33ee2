#pragma once

// A table that training fills; ci/consumer/learned.cpp is an example.

#include "lib/learned/learned.hpp"
