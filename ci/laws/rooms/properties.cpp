#include "properties/catalogue.hpp"

int main() { return static_cast<int>(sextant::catalogue().size()); }
