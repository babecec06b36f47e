#include "proxy/exchange/tunnel.h"

#include <array>
#include <string_view>

#include "proxy/http/websocket.h"

namespace sluice::exchange {

void addKey(base::Arena& arena, std::uint64_t high, std::uint64_t low, http::RequestHead& request) {
  std::array<std::uint8_t, 16> nonce{};
  for (std::size_t i = 0; i < 8; ++i) {
    nonce[i] = static_cast<std::uint8_t>(high >> (8 * i));
    nonce[8 + i] = static_cast<std::uint8_t>(low >> (8 * i));
  }
  request.headers.add(arena, "sec-websocket-key", arena.copy(http::webSocketKey(nonce)));
}

void removeAccept(const http::RequestHead& request, http::ResponseHead& response) {
  if (needsKey(request) && response.body == http::Body::kTunnel) response.headers.remove("sec-websocket-accept");
}

}  // namespace sluice::exchange
