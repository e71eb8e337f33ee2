#include "properties/verdict/verdict.hpp"

int main() { return static_cast<int>(sextant::name_of(sextant::Verdict::holds).size()); }
