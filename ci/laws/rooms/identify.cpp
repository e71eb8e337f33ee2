#include "properties/identify/identify.hpp"

int main() { return &sextant::identify::identify == nullptr ? 1 : 0; }
