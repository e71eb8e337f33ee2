#include "subjects/builtin.hpp"

int main() { return static_cast<int>(sextant::builtin_subject()->name().size()); }
