// Scans any text, in pieces of any size, for a value: the parser accepts and refuses the same texts, and finds the same
// value. So it is with the text as a whole.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"
#include "test/support/json_scan_oracle.h"

int sluice::test::fuzzJsonScan(const std::uint8_t* data, std::size_t size) {
  static const auto kPaths = scannedPaths();
  if (size < 4) return 0;
  FuzzInput input(data, 4);
  const auto& path = kPaths[data[2] % kPaths.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 4, size - 4);
  const std::string difference = differenceOf(
      text, path, [&]() -> std::size_t { return input.next() % 4 == 0 ? text.size() : 1 + input.next() % 40; });
  require(difference.empty(), difference.c_str());
  const std::string ofLocated = differenceOfLocated(text, kPaths);
  require(ofLocated.empty(), ofLocated.c_str());
  return 0;
}
