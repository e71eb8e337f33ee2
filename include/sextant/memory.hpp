#pragma once

// What encoders read and write: dtypes, tensors of their own, and views of a caller's memory. ci/consumer/memory.cpp is
// an example.

#include "lib/numeric/dtype.hpp"
#include "lib/numeric/heads.hpp"
#include "lib/numeric/position_range.hpp"
#include "lib/numeric/rounding.hpp"
#include "lib/numeric/tensor.hpp"
