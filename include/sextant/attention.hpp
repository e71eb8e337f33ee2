#pragma once

// Attention with any of the encodings; ci/consumer/attention.cpp is an example.

#include "lib/attention/attention.hpp"
