// Scans any bytes as a form, in pieces of any size: the result is that of the form as a whole, and no more is kept than
// the bounds allow.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/content/form_scan.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace sluice::test {
namespace {

constexpr std::size_t kKeptOfForm = 8;

std::string formResult(content::FormScan& scan) {
  if (!scan.end()) return "none";
  return scan.found() == nullptr ? "form" : "form with " + scan.found()->text + (scan.found()->isCut ? "..." : "");
}

}  // namespace
}  // namespace sluice::test

// The first byte is the length of a Content-Type, whose boundary the form has.
int sluice::test::fuzzFormScan(const std::uint8_t* data, std::size_t size) {
  FuzzInput input(data, size);
  const std::size_t length = input.byte();
  const std::string_view type = input.rest().substr(0, length);
  const std::string_view form = input.rest().substr(type.size());
  const std::string boundary = content::FormScan::boundaryOf(type);
  require(boundary.size() <= content::FormScan::kMostBoundary, "a boundary is too long");
  content::FormScan whole(boundary, "model", kKeptOfForm);
  const bool good = whole.feed(form);
  content::FormScan scan(boundary, "model", kKeptOfForm);
  bool stillGood = true;
  for (std::string_view rest = form; stillGood && !rest.empty();) {
    const std::size_t count = input.next() % 4 == 0 ? rest.size() : 1 + input.next() % 40;
    stillGood = scan.feed(rest.substr(0, count));
    rest.remove_prefix(std::min(count, rest.size()));
    require(scan.memory() <= 3 * content::FormScan::kMostHeader, "the header of a part is too long");
    const bool isBounded = scan.found() == nullptr || scan.found()->text.size() <= kKeptOfForm + 2;
    require(isBounded, "more is kept of the value than was asked for");
  }
  require(good == stillGood, "whether it is a form depends on the pieces");
  require(!good || formResult(whole) == formResult(scan), "the value depends on the pieces");
  return 0;
}
