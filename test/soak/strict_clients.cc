// Well-behaved clients over sockets: every status and every byte is known beforehand.
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
using test::ReceivedResponse;

std::string anyBackend(Scene& scene) {
  static constexpr const char* kPrefixes[] = {"", "/plain", "/weighted", "/service"};
  return kPrefixes[scene.random() % std::size(kPrefixes)];
}

std::string hex(std::size_t number) {
  static constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (; number > 0; number /= 16) text.insert(text.begin(), kDigits[number % 16]);
  return text;
}

bool get(Scene& scene, BlockingSocket& socket) {
  const auto size = static_cast<std::size_t>(scene.any(0, 20'000));
  const std::string target = anyBackend(scene) + (scene.oneIn(2) ? "/bytes/" : "/chunked/") + std::to_string(size);
  socket.send(getHead(target));
  return expectAnswer(scene, finalResponse(socket), 200, scene.testbed.pattern(size), "GET " + target);
}

bool head(Scene& scene, BlockingSocket& socket) {
  const std::string target = anyBackend(scene) + "/bytes/1234";
  socket.send("HEAD " + target + " HTTP/1.1\r\nHost: any.test\r\n\r\n");
  const ReceivedResponse got = finalResponse(socket, true);
  return scene.ledger.expect(got.status == 200 && got.field("content-length") == "1234",
                             "HEAD " + target + ": " + summary(got));
}

bool postWithLength(Scene& scene, BlockingSocket& socket) {
  const std::string body = randomText(scene, static_cast<std::size_t>(scene.any(0, 30'000)));
  const std::string target = anyBackend(scene) + "/echo";
  socket.send(postHead(target, "Content-Length: " + std::to_string(body.size()) + "\r\n") + body);
  return expectAnswer(scene, finalResponse(socket), 200, body, "POST " + target);
}

bool postInChunks(Scene& scene, BlockingSocket& socket) {
  const std::string target = anyBackend(scene) + "/echo";
  std::string whole;
  socket.send(postHead(target, "Transfer-Encoding: chunked\r\n"));
  for (int i = scene.any(1, 5); i > 0; --i) {
    const std::string part = randomText(scene, static_cast<std::size_t>(scene.any(1, 10'000)));
    whole += part;
    socket.send(hex(part.size()) + "\r\n" + part + "\r\n");
  }
  socket.send("0\r\n\r\n");
  return expectAnswer(scene, finalResponse(socket), 200, whole, "chunked POST " + target);
}

void keepAlive(Scene& scene) {
  static constexpr bool (*kKinds[])(Scene&, BlockingSocket&) = {get, get, head, postWithLength, postInChunks};
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  for (int i = scene.any(5, 30); i > 0; --i) {
    if (!kKinds[scene.random() % std::size(kKinds)](scene, socket)) return;
    if (scene.oneIn(10) && !scene.course.pause(1s)) return;
  }
}

void pipelined(Scene& scene) {
  constexpr int kRequests = 10;
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  std::string all;
  for (int i = 0; i < kRequests; ++i)
    all += getHead(i % 2 == 0 ? "/bytes/" + std::to_string(i * 1000) : "/plain/status/404");
  socket.send(all);
  for (int i = 0; i < kRequests; ++i) {
    const bool even = i % 2 == 0;
    const std::string body = even ? scene.testbed.pattern(static_cast<std::size_t>(i) * 1000) : "";
    if (!expectAnswer(scene, finalResponse(socket), even ? 200 : 404, body, "pipelined " + std::to_string(i))) return;
  }
}

void large(Scene& scene) {
  static constexpr const char* kTargets[] = {"/bytes/1000000", "/plain/bytes/1000000", "/files/large"};
  const std::string target = kTargets[scene.random() % std::size(kTargets)];
  expectAnswer(scene, fetch(scene, target), 200, scene.testbed.pattern(Testbed::kLargeFile), "GET " + target);
}

void multiplexed(Scene& scene) {
  constexpr std::uint32_t kStreams = 10;
  H2Client client(scene.testbed.gateway().port());
  std::string all;
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    all += test::h2::headers(2 * i + 1, test::h2::get(anyBackend(scene) + "/bytes/" + std::to_string(i * 500)), true);
  }
  client.send(all);
  for (std::uint32_t i = 0; i < kStreams; ++i) {
    const std::uint32_t stream = 2 * i + 1;
    const bool ended = client.readStream(stream);
    scene.ledger.expect(
        ended && client.status(stream) == "200" && client.seen().body(stream) == scene.testbed.pattern(i * 500),
        "stream " + std::to_string(stream) + ": status " + client.status(stream) + ", " +
            std::to_string(client.seen().body(stream).size()) + " bytes" + (ended ? "" : ", no end"));
  }
}

/// This takes longer than streamIdle, but is never idle for so long.
void slowButSteady(Scene& scene) {
  constexpr std::size_t kPart = Testbed::kMostPattern / 100;
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port(), 16 * 1024);
  socket.send(getHead("/bytes/" + std::to_string(Testbed::kMostPattern)));
  if (!scene.ledger.expect(socket.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200"), "no head")) return;
  for (std::size_t at = 0; at < Testbed::kMostPattern; at += kPart) {
    if (!scene.course.pause(100ms)) return;
    const std::string part = socket.readExactly(kPart);
    if (part == scene.testbed.pattern(at + kPart).substr(at)) continue;
    return scene.ledger.wrong("after " + std::to_string(at) + " bytes came only " + std::to_string(part.size()) +
                              ", or others" + (socket.wasReset() ? ", and a reset" : ""));
  }
  scene.ledger.right();
}

void slowWriter(Scene& scene) {
  constexpr int kParts = 50;
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  const std::string body = randomText(scene, kParts);
  socket.send(postHead(anyBackend(scene) + "/echo", "Content-Length: " + std::to_string(kParts) + "\r\n"));
  for (const char byte : body) {
    socket.send({&byte, 1});
    if (!scene.course.pause(200ms)) return;
  }
  expectAnswer(scene, finalResponse(socket), 200, body, "an upload by the byte");
}

void halfCloser(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  constexpr std::size_t kSize = 300'000;
  socket.send(getHead(anyBackend(scene) + "/bytes/" + std::to_string(kSize)));
  const std::string begun = socket.readExactly(12);
  socket.shutdownWrite();
  const std::string rest = socket.readAll();
  scene.ledger.expect(
      begun == "HTTP/1.1 200" && rest.ends_with(scene.testbed.pattern(kSize)) && socket.closed(),
      "a client that has ended its side gets " + begun + " and " + std::to_string(rest.size()) + " bytes");
}

void followsANameThatMoves(Scene& scene) {
  expectAnswer(scene, fetch(scene, "/flip/bytes/3000"), 200, scene.testbed.pattern(3000), "GET /flip");
  // Some pauses last longer than an idle connection to the origin lives, so the next connection needs the name.
  if (scene.oneIn(10)) scene.course.pause(kUpstreamIdle + 1s);
}

}  // namespace

std::vector<Actor> strictClients() {
  return {{"h1 keep-alive", 50ms, keepAlive},           {"h1 keep-alive 2", 50ms, keepAlive},
          {"h1 pipelined", 200ms, pipelined},           {"h1 large bodies", 300ms, large},
          {"h2 multiplexed", 200ms, multiplexed},       {"slow but steady reader", 200ms, slowButSteady},
          {"slow writer", 200ms, slowWriter},           {"half-closer", 300ms, halfCloser},
          {"moving name", 200ms, followsANameThatMoves}};
}

}  // namespace sluice::soak
