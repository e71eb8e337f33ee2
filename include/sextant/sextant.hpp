#pragma once

// All of sextant::lib.
//
// Every encoder is made from its spec, is const, and may serve any number of threads. Codes (`encode`) write rows of a
// caller's memory, or return a tensor; rotations (`apply`, `backward`) turn vectors of a caller's memory, strided and
// in place where asked, or (`rotate`, `backward`) return a tensor; biases and attention write dense memory, or return a
// tensor.
//
// A spec outside its domain is a SpecError, which names the field. Arguments that do not fit each other or the spec are
// std::invalid_argument, which names the argument; a position that the encoding does not have, or beyond the range of
// its integers, is std::out_of_range. Both are told before anything is written.

#include "sextant/alibi.hpp"
#include "sextant/attention.hpp"
#include "sextant/binary.hpp"
#include "sextant/fourier.hpp"
#include "sextant/integer.hpp"
#include "sextant/learned.hpp"
#include "sextant/log_coordinates.hpp"
#include "sextant/memory.hpp"
#include "sextant/qk_norm_rope.hpp"
#include "sextant/relative_bias.hpp"
#include "sextant/rope.hpp"
#include "sextant/rope_nd.hpp"
#include "sextant/sinusoidal.hpp"
#include "sextant/sinusoidal_2d.hpp"
#include "sextant/sinusoidal_nd.hpp"
#include "sextant/spec.hpp"
#include "sextant/window_bias.hpp"
#include "sextant/xpos.hpp"
