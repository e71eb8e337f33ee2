#include "reports/markdown.hpp"

int main() { return static_cast<int>(sextant::write_markdown({}).size()); }
