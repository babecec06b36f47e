// Parses any text as JSON: there is never a crash or an endless loop, and a value that was parsed is written as JSON
// that parses to the same.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "proxy/content/json.h"
#include "test/fuzz/fuzzers.h"

int sluice::test::fuzzJson(const std::uint8_t* data, std::size_t size) {
  namespace content = sluice::content;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto value = content::parseJson(text);
  if (!value) {
    if (value.error().detail.empty()) std::abort();
    return 0;
  }
  const std::string written = content::writeJson(*value);
  const auto again = content::parseJson(written, {written.size(), content::JsonLimits().depth});
  if (!again || content::writeJson(*again) != written) std::abort();
  return 0;
}
