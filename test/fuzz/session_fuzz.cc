// Reads any session that a client may send: cookies of other servers stay, the gateway's own are removed, and no value
// opens that the gateway did not seal.
#include <string>

#include "proxy/exchange/session/session_carrier.h"
#include "proxy/exchange/session/session_value.h"
#include "proxy/pki/sealed_value.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::exchange::SessionValue;
using sluice::exchange::takeSessions;
using sluice::test::require;

constexpr std::size_t kSealedSize = sluice::pki::ValueSealer::sealedSize(SessionValue::kSize);

void readCookies(std::string_view text, bool byHeader) {
  sluice::routing::SessionPolicy policy;
  policy.name = "s";
  policy.byHeader = byHeader;
  sluice::base::ChunkPool pool;
  sluice::http::RequestMessage request(pool);
  request.head.headers.add(request.arena, byHeader ? "s" : "cookie", text);
  request.head.headers.add(request.arena, "other", "stays");
  const sluice::pki::ValueSealer sealer(sluice::base::Secret(std::string(32, 'k')));
  for (const std::string_view value : takeSessions(policy, kSealedSize, request)) {
    require(value.size() == kSealedSize, "a value has one size");
    require(!sealer.open(value, "scope"), "nobody has sealed it");
  }
  const auto left = request.head.headers.size();
  require(left == 1 || left == 2, "no field is added");
  require(takeSessions(policy, kSealedSize, request).empty(), "all were taken");
  require(request.head.headers.size() == left, "what is left stays");
}

void readValue(std::string_view bytes) {
  const auto value = SessionValue::parse(bytes);
  if (!value) return;
  const auto again = SessionValue::parse(value->toBytes());
  require(again && again->share == value->share && again->endpoint == value->endpoint, "a value says what it said");
}

}  // namespace

int sluice::test::fuzzSession(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kMostBytes = 20'000;
  const std::string_view text(reinterpret_cast<const char*>(data), std::min(size, kMostBytes));
  readCookies(text, false);
  readCookies(text, true);
  readValue(text);
  return 0;
}
