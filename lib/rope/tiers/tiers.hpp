#pragma once

#include <cstdint>

#include "lib/rope/job.hpp"

namespace sextant {

// The kernels of each dtype, on the instruction set in use: units [first, last) of a job of that dtype, and rows
// [first, last) of its tables. One file each, compiled once per instruction set.

void rotate_float64(const RopeJob& job, std::int64_t first, std::int64_t last);
void rotate_float32(const RopeJob& job, std::int64_t first, std::int64_t last);
void rotate_float16(const RopeJob& job, std::int64_t first, std::int64_t last);
void rotate_bfloat16(const RopeJob& job, std::int64_t first, std::int64_t last);

// Of float32 vectors, whose results are of 16 bits, certified.
void rotate_float32_to_narrow(const RopeJob& job, std::int64_t first, std::int64_t last);

void tabulate_float64(const TableJob& job, std::int64_t first, std::int64_t last);
void tabulate_float32(const TableJob& job, std::int64_t first, std::int64_t last);
void tabulate_float16(const TableJob& job, std::int64_t first, std::int64_t last);
void tabulate_bfloat16(const TableJob& job, std::int64_t first, std::int64_t last);

}  // namespace sextant
