#include <rapidcheck.h>

int main() {
  return rc::check([] { return true; }) ? 0 : 1;
}
