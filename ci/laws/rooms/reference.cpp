#include "reference/alibi.hpp"

int main() { return static_cast<int>(sextant::reference::AlibiReference(sextant::Alibi{}).encoding().num_heads); }
