#include "lib/kernels/targets.hpp"

int main() { return static_cast<int>(sextant::target_in_use().size()); }
