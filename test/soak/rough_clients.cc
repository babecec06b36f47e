// Clients that break off, stop midway or send nonsense. The gateway must end their exchanges in time, and their
// neighbours on the same connection must not be affected.
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
using test::H2Type;

/// This is more than all buffers on the way hold together.
constexpr const char* kHuge = "/bytes/50000000";

void resetsInARequest(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  const std::string part = randomText(scene, static_cast<std::size_t>(scene.any(0, 50'000)));
  switch (scene.any(0, 2)) {
    case 0:
      socket.send("POST /echo HTTP/1.1\r\nHo");
      break;
    case 1:
      socket.send(postHead("/echo", "Content-Length: 1000000\r\n") + part);
      break;
    default:
      socket.send(postHead("/plain/echo", "Transfer-Encoding: chunked\r\n") + "fffff\r\n" + part);
  }
  if (scene.oneIn(2)) scene.course.pause(20ms);
  scene.oneIn(4) ? socket.close() : socket.reset();
  scene.ledger.right();
}

void resetsInAResponse(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  socket.send(getHead((scene.oneIn(2) ? "/plain" : "") + std::string(kHuge)));
  const auto size = static_cast<std::size_t>(scene.any(1, 300'000));
  scene.ledger.expect(socket.readExactly(size).size() == size, "the response stops before its client does");
  scene.oneIn(4) ? socket.close() : socket.reset();
}

/// The client resets its streams one by one; the connection must serve on.
void resetsStreams(Scene& scene) {
  constexpr std::uint32_t kLast = 15;
  H2Client client(scene.testbed.gateway().port());
  for (std::uint32_t stream = 1; stream <= kLast; stream += 2) {
    const bool upload = scene.oneIn(2);
    client.send(upload ? test::h2::headers(stream, test::h2::post("/echo"), false) +
                             test::h2::data(stream, randomText(scene, 1000), false)
                       : test::h2::headers(stream, test::h2::get(kHuge), true));
    if (scene.oneIn(2)) client.readFrame(H2Type::kHeaders, stream);
    client.send(test::h2::rstStream(stream, test::h2error::kCancel));
  }
  const std::uint32_t next = kLast + 2;
  client.send(test::h2::windowUpdate(0, 1 << 24) + test::h2::headers(next, test::h2::get("/bytes/100"), true));
  const bool served = client.readStream(next) && client.status(next) == "200";
  scene.ledger.expect(served, "the stream behind those that were reset: status \"" + client.status(next) +
                                  "\", GOAWAY " + std::to_string(client.goawayCode()));
  if (scene.oneIn(2)) client.reset();
}

void leavesInTheMiddleOfStreams(Scene& scene) {
  H2Client client(scene.testbed.gateway().port());
  for (std::uint32_t stream = 1; stream < 20; stream += 2) {
    client.send(test::h2::headers(stream, test::h2::get(scene.oneIn(2) ? kHuge : "/delay-ms/300"), true));
  }
  scene.ledger.expect(client.readFrame(H2Type::kHeaders, scene.oneIn(2) ? 1 : 19), "no head arrives");
  if (scene.oneIn(2)) client.reset();
}

/// The client reads a little, then nothing, until streamIdle expires.
void stopsReading(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port(), 16 * 1024);
  socket.send(getHead(kHuge));
  scene.ledger.expect(socket.readExactly(10'000).size() == 10'000, "not even a beginning");
  if (!scene.course.pause(kStreamIdle + kSlack)) return;
  const std::size_t rest = socket.readAll().size();
  scene.ledger.expect(socket.closed() && rest < 40'000'000, "after streamIdle came " + std::to_string(rest) + " bytes" +
                                                                (socket.closed() ? "" : " and no end"));
}

void stopsReadingAStream(Scene& scene) {
  H2Client client(scene.testbed.gateway().port());
  client.send(test::h2::headers(1, test::h2::get(kHuge), true));
  const bool ended =
      client.readUntil([&] { return client.seen().find(H2Type::kRstStream, 1) != nullptr; }, kStreamIdle + kSlack);
  scene.ledger.expect(ended && client.isServed(), std::string("a stream that takes nothing is ") +
                                                      (ended ? "ended with its connection" : "not ended"));
}

void stopsWriting(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  const bool inHead = scene.oneIn(2);
  socket.send(inHead ? "GET / HTTP/1.1\r\nHost: " : postHead("/echo", "Content-Length: 100\r\n") + "only this");
  const auto got = test::readResponse(socket, false, 15s + kSlack);
  // An echo has begun its answer when its request ends.
  const bool timely = got.status == 408 || (!inHead && got.status == 200 && socket.closed());
  scene.ledger.expect(timely, std::string(inHead ? "half a head: " : "half a body: ") + summary(got));
}

std::string randomBytes(Scene& scene, std::size_t size) {
  std::string bytes;
  while (bytes.size() < size) bytes += static_cast<char>(scene.random());
  return bytes;
}

void talksNonsense(Scene& scene) {
  const bool secure = scene.oneIn(3);
  BlockingSocket socket =
      BlockingSocket::connect(secure ? scene.testbed.gateway().tlsPort() : scene.testbed.gateway().port());
  const std::string bytes = randomBytes(scene, static_cast<std::size_t>(scene.any(1, 20'000)));
  static const std::string kBeginnings[] = {"",
                                            "GET / HTTP/1.1\r\n",
                                            "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ",
                                            "\x16\x03\x01\x02\x00\x01",
                                            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                                            test::h2::clientHello()};
  socket.send(kBeginnings[scene.random() % std::size(kBeginnings)] + bytes, 5s);
  if (scene.oneIn(3)) return scene.ledger.right();  // and closes the socket
  socket.shutdownWrite();
  socket.readAll(kRequestHeader + kSlack);
  scene.ledger.expect(socket.closed(), "nonsense of " + std::to_string(bytes.size()) + " bytes does not end a" +
                                           (secure ? " TLS" : "") + " connection");
}

}  // namespace

std::vector<Actor> roughClients() {
  return {{"resets in a request", 50ms, resetsInARequest}, {"resets in a response", 100ms, resetsInAResponse},
          {"resets streams", 100ms, resetsStreams},        {"leaves streams", 200ms, leavesInTheMiddleOfStreams},
          {"stops reading", 100ms, stopsReading},          {"stops reading a stream", 100ms, stopsReadingAStream},
          {"stops writing", 100ms, stopsWriting},          {"talks nonsense", 200ms, talksNonsense}};
}

}  // namespace sluice::soak
