// WebSockets that stay open through everything else: every message comes back, and nothing else.
#include <string>
#include <vector>

#include "test/integration/support/h2_client.h"
#include "test/soak/actor.h"
#include "test/soak/checks.h"

namespace sluice::soak {
namespace {

using namespace std::chrono_literals;
using test::BlockingSocket;
using test::H2Client;

constexpr char kBinaryFrame = '\x82';
constexpr char kCloseFrame = '\x88';
const std::string kNormalClosure = "\x03\xe8";  // status 1000

/// RFC 6455 section 5.2 gives the format. A client's frame has a mask, here one that changes nothing.
std::string frame(char first, const std::string& payload, bool masked) {
  const char mask = masked ? '\x80' : '\0';
  std::string text(1, first);
  if (payload.size() < 126) {
    text += static_cast<char>(mask | static_cast<char>(payload.size()));
  } else {
    text += static_cast<char>(mask | 126);
    text += static_cast<char>(payload.size() >> 8);
    text += static_cast<char>(payload.size() & 0xff);
  }
  if (masked) text.append(4, '\0');
  return text + payload;
}

std::string handshake() {
  return getHead("/socket/chat",
                 "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                 "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n");
}

void tunnelOverHttp1(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  socket.send(handshake());
  const std::string head = socket.readUntil("\r\n\r\n");
  const bool agreed =
      head.starts_with("HTTP/1.1 101 ") && head.find("s3pPLMBiTxaQ9kYGzzhZRbK+xOo=") != std::string::npos;
  if (!scene.ledger.expect(agreed, "no tunnel: " + head)) return;
  for (int i = scene.any(1, 15); i > 0; --i) {
    const std::string message = randomText(scene, static_cast<std::size_t>(scene.any(0, 30'000)));
    socket.send(frame(kBinaryFrame, message, true));
    const std::string echo = frame(kBinaryFrame, message, false);
    if (!scene.ledger.expect(socket.readExactly(echo.size()) == echo, "another message comes back")) return;
    if (scene.oneIn(3) && !scene.course.pause(1s)) return;
  }
  if (scene.oneIn(4)) return socket.reset();
  socket.send(frame(kCloseFrame, kNormalClosure, true));
  const std::string rest = socket.readAll();
  scene.ledger.expect(rest == frame(kCloseFrame, kNormalClosure, false) && socket.closed() && !socket.wasReset(),
                      "no end, or more than that");
}

void tunnelOverHttp2(Scene& scene) {
  H2Client client(scene.testbed.gateway().port());
  client.send(test::h2::headers(1,
                                {{":method", "CONNECT"},
                                 {":protocol", "websocket"},
                                 {":scheme", "http"},
                                 {":path", "/socket/chat"},
                                 {":authority", "any.test"},
                                 {"sec-websocket-version", "13"}},
                                false));
  client.readUntil([&] { return client.isSettled(1); });
  if (!scene.ledger.expect(client.status(1) == "200", "no tunnel: status \"" + client.status(1) + "\"")) return;
  std::string echoes;
  for (int i = scene.any(1, 15); i > 0; --i) {
    const std::string message = randomText(scene, static_cast<std::size_t>(scene.any(0, 1000)));
    client.send(test::h2::data(1, frame(kBinaryFrame, message, true), false));
    echoes += frame(kBinaryFrame, message, false);
    client.readUntil([&] { return client.seen().body(1).size() >= echoes.size(); });
    if (!scene.ledger.expect(client.seen().body(1) == echoes, "another message comes back")) return;
    if (scene.oneIn(3) && !scene.course.pause(1s)) return;
  }
  if (scene.oneIn(4)) return;
  client.send(test::h2::data(1, frame(kCloseFrame, kNormalClosure, true), true));
  scene.ledger.expect(
      client.readStream(1) && client.seen().body(1) == echoes + frame(kCloseFrame, kNormalClosure, false),
      "no end, or more than that");
}

}  // namespace

std::vector<Actor> webSocketClients() {
  return {{"websocket, h1", 100ms, tunnelOverHttp1},
          {"websocket, h1 2", 100ms, tunnelOverHttp1},
          {"websocket, h2", 100ms, tunnelOverHttp2}};
}

}  // namespace sluice::soak
