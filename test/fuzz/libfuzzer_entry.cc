// Defines the function that libFuzzer calls. The build chooses which fuzzer this binary runs.
#include <cstddef>
#include <cstdint>

#include "test/fuzz/fuzzers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return sluice::test::SLUICE_FUZZER(data, size);
}
