#include <mpfr.h>

int main() { return static_cast<int>(mpfr_get_version()[0]); }
