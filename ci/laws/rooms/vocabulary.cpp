#include "lib/spec/spec.hpp"

int main(int count, char** words) { return static_cast<int>(sextant::parse_spec(words[count - 1]).min_position); }
