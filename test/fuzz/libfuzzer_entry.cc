// What libFuzzer calls: the build names the fuzzer of this binary.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzzers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return sluice::test::SLUICE_FUZZER(data, size);
}
