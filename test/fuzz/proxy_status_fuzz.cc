// Carries any Proxy-Status lines, one line of the input each. A removed entry is not found any more, a list without an
// entry of the gateway stays as it is, and the gateway's entry is found on whatever line it follows.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/arena.h"
#include "proxy/http/headers.h"
#include "proxy/http/proxy_status.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::base::Arena;
using sluice::http::Field;
using sluice::http::hasProxyStatusOf;
using sluice::http::Headers;
using sluice::http::removeProxyStatusOf;
using sluice::test::require;

constexpr std::string_view kOurs = "ours-";

Headers statusLines(Arena& arena, const std::vector<std::string>& lines) {
  Headers headers;
  headers.add(arena, "server", "ours-1");
  for (const std::string& line : lines) headers.add(arena, "proxy-status", arena.copy(line));
  return headers;
}

bool isSame(const Headers& a, const Headers& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const Field& x, const Field& y) { return x.name == y.name && x.value == y.value; });
}

}  // namespace

int sluice::test::fuzzProxyStatus(const std::uint8_t* data, std::size_t size) {
  std::vector<std::string> lines(1);
  for (const char c : std::string_view(reinterpret_cast<const char*>(data), size)) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  base::ChunkPool pool;
  Arena arena(pool);
  Headers headers = statusLines(arena, lines);
  const Headers before = headers.copy(arena);
  const bool found = hasProxyStatusOf(headers, kOurs);
  removeProxyStatusOf(arena, kOurs, headers);
  require(!hasProxyStatusOf(headers, kOurs), "an entry of ours is left");
  require(headers.find("server") != nullptr, "another field is gone");
  require(found || isSame(headers, before), "a list without an entry of ours is changed");
  headers.add(arena, "proxy-status", "ours-2; received-status=503");
  require(hasProxyStatusOf(headers, kOurs), "an entry behind others is not found");
  return 0;
}
