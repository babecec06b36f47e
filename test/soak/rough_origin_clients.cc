// Clients that request the paths of the rough origin: the outcome must be the one that names.md states for each fault,
// over both versions.
#include <string>
#include <vector>

#include "test/integration/support/h2_client.h"
#include "test/soak/actor.h"
#include "test/soak/checks.h"
#include "test/soak/rough_origin.h"

namespace sluice::soak {
namespace {

using namespace std::chrono_literals;
using test::BlockingSocket;
using test::H2Client;
using test::H2Type;
using test::ReceivedResponse;

/// Some of the body may arrive, but the end of the connection must not look like the end of the body. If the gateway
/// reads the end together with the head, the head has not left, and the client gets an error in its place.
void cutOverHttp1(Scene& scene) {
  const std::string target = scene.oneIn(2) ? "/rough/cut" : "/rough/torn";
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  socket.send(getHead(target, "Connection: close\r\n"));
  const std::string all = socket.readAll(kStreamIdle + kSlack);
  const bool error = all.starts_with("HTTP/1.1 502") && contains(all, "\"connection_terminated\"");
  // A reset may overtake data that was sent before it.
  const bool begun = all.empty() || all.starts_with("HTTP/1.1 200");
  scene.ledger.expect(socket.closed() && (error || (begun && !all.ends_with("0\r\n\r\n"))), target + ": " + all);
}

void brokenOverHttp1(Scene& scene) {
  struct FaultCase {
    const char* path;
    int status;
    const char* code;  // code of the local reply; nullptr: the origin's body
  };
  static constexpr FaultCase kCases[] = {{"/rough/whole", 200, nullptr},
                                         {"/rough/until-end", 200, nullptr},
                                         {"/rough/interim", 200, nullptr},
                                         {"/rough/reset", 502, "connection_terminated"},
                                         {"/rough/closed", 502, "connection_terminated"},
                                         {"/rough/nonsense", 502, "http_protocol_error"}};
  const FaultCase& one = kCases[scene.random() % std::size(kCases)];
  const ReceivedResponse got = fetch(scene, one.path);
  if (one.code != nullptr) {
    expectOwnAnswer(scene, got, one.status, one.code, one.path);
  } else {
    expectAnswer(scene, got, one.status, kRoughBody, one.path);
  }
}

void brokenOverHttp2(Scene& scene) {
  static constexpr const char* kPaths[] = {"whole", "until-end", "reset", "nonsense", "cut", "torn", "closed"};
  // "": a reset, after any number of bytes, or an error if the head has not left by then
  static constexpr const char* kStatuses[] = {"200", "200", "502", "502", "", "", "502"};
  H2Client client(scene.testbed.gateway().port());
  for (std::uint32_t i = 0; i < std::size(kPaths); ++i) {
    client.send(test::h2::headers(2 * i + 1, test::h2::get("/rough/" + std::string(kPaths[i])), true));
  }
  for (std::uint32_t i = 0; i < std::size(kPaths); ++i) {
    const std::uint32_t stream = 2 * i + 1;
    const std::string wanted = kStatuses[i];
    if (wanted.empty()) {
      const auto isReset = [&] { return client.seen().find(H2Type::kRstStream, stream) != nullptr; };
      scene.ledger.expect(client.readUntil([&] { return isReset() || client.status(stream) == "502"; }),
                          std::string(kPaths[i]) + " is not reset");
    } else {
      scene.ledger.expect(client.readStream(stream) && client.status(stream) == wanted,
                          std::string(kPaths[i]) + ": status \"" + client.status(stream) + "\"");
    }
  }
}

void uploadsToWhoDoesNotListen(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.gateway().port());
  socket.send(postHead("/rough/hasty", "Content-Length: 3000000\r\n"));
  socket.sendSome(scene.testbed.pattern(3'000'000), 5s);
  const ReceivedResponse got = finalResponse(socket);
  scene.ledger.expect(got.status == 413 || got.status == 502 || (got.status == 0 && socket.closed()), summary(got));
}

void waitsForWhoSaysNothing(Scene& scene) {
  BlockingSocket silent = BlockingSocket::connect(scene.testbed.gateway().port());
  silent.send(getHead("/rough/silent"));
  BlockingSocket stuck = BlockingSocket::connect(scene.testbed.gateway().port());
  stuck.send(getHead("/rough/stuck"));
  const ReceivedResponse got = test::readResponse(silent, false, kStreamIdle + kSlack);
  expectOwnAnswer(scene, got, 504, "http_response_timeout", "/rough/silent");
  const std::string all = stuck.readAll(kSlack);
  scene.ledger.expect(stuck.closed() && (all.empty() || all.ends_with("only this")), "/rough/stuck: " + all);
}

}  // namespace

std::vector<Actor> clientsOfRoughOrigins() {
  return {{"broken answers, h1", 100ms, brokenOverHttp1},
          {"cut bodies, h1", 200ms, cutOverHttp1},
          {"broken answers, h2", 300ms, brokenOverHttp2},
          {"hasty answers", 500ms, uploadsToWhoDoesNotListen},
          {"no answers", 500ms, waitsForWhoSaysNothing}};
}

}  // namespace sluice::soak
