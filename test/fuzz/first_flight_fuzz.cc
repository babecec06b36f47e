// Tells the first bytes of any stream, whole and in pieces. The pieces change nothing, a name is one that TLS may name,
// and no bytes beyond the bound are kept.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "proxy/http/opaque/first_flight.h"
#include "test/fuzz/fuzz_input.h"
#include "test/fuzz/fuzzers.h"

namespace {

using sluice::http::FirstFlight;

FirstFlight tell(std::string_view bytes, std::size_t piece) {
  FirstFlight flight;
  for (; !bytes.empty(); bytes.remove_prefix(std::min(piece, bytes.size()))) flight.add(bytes.substr(0, piece));
  return flight;
}

}  // namespace

int sluice::test::fuzzFirstFlight(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  FirstFlight whole = tell(bytes, size + 1);
  FirstFlight pieces = tell(bytes, 3);
  require(whole.known() == pieces.known(), "pieces end at the same byte");
  require(size < FirstFlight::kMostHello || whole.known(), "the bound ends it");
  whole.finish();
  pieces.finish();
  require(whole.known() && whole.protocol() == pieces.protocol(), "pieces change no protocol");
  require(whole.serverName() == pieces.serverName(), "pieces change no name");
  const std::string_view name = whole.serverName().value_or("");
  require(name.empty() || whole.protocol() == sluice::http::StreamProtocol::kTls, "only TLS names a server");
  require(std::all_of(name.begin(), name.end(), [](char c) { return c > 0x20 && c < 0x7f; }), "a name is a name");
  return 0;
}
