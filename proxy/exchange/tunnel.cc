#include "proxy/exchange/tunnel.h"

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "proxy/base/base64.h"
#include "proxy/http/tunnel.h"
#include "proxy/pki/digest.h"

namespace sluice::exchange {
namespace {

constexpr std::string_view kGuid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// A client of HTTP/2 gave no key (RFC 8441 section 5).
bool needsKey(const http::RequestHead& request) {
  return request.tunnel == http::Tunnel::kWebSocket && request.version == http::Version::kHttp2;
}

/// 16 random bytes (RFC 6455 section 4.1).
std::string newKey(base::Random& random) {
  std::string nonce(16, '\0');
  for (std::size_t at = 0; at < nonce.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t part = random.next();
    std::memcpy(nonce.data() + at, &part, sizeof part);
  }
  return base::encodeBase64(nonce);
}

std::string acceptOf(std::string_view key) {
  const pki::Sha1Digest proof = pki::sha1(std::string(key).append(kGuid));
  return base::encodeBase64({reinterpret_cast<const char*>(proof.data()), proof.size()});
}

}  // namespace

void openHandshake(base::Arena& arena, base::Random& random, http::RequestHead& request) {
  switch (request.tunnel) {
    case http::Tunnel::kNone:
    case http::Tunnel::kStream:
      return;
    case http::Tunnel::kWebSocket:
      if (needsKey(request)) request.headers.add(arena, "sec-websocket-key", arena.copy(newKey(random)));
      request.tunnelProof = arena.copy(acceptOf(http::webSocketKey(request.headers)));
      return;
  }
}

void removeAccept(const http::RequestHead& request, http::ResponseHead& response) {
  if (needsKey(request) && response.body == http::Body::kTunnel) response.headers.remove("sec-websocket-accept");
}

}  // namespace sluice::exchange
