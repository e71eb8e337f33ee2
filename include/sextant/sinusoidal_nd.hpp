#pragma once

// Sinusoidal codes of several coordinates: images, films; ci/consumer/sinusoidal_nd.cpp is an example.

#include "lib/sinusoidal_nd/sinusoidal_nd.hpp"
