#include "lib/rope/rope.hpp"

int main() { return static_cast<int>(sextant::RopeEncoder(sextant::Rope{}).encoding().head_dim); }
