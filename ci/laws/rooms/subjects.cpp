#include "subjects/subject.hpp"

int main() { return static_cast<int>(sextant::name_of(sextant::FailureKind::crashed).size()); }
