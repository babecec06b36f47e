// Actors that operate the gateway while it is busy: they apply good and bad configurations, one after another, and read
// the admin port.
#include <csignal>
#include <string>
#include <vector>

#include "test/soak/actor.h"
#include "test/soak/checks.h"

namespace sluice::soak {
namespace {

using namespace std::chrono_literals;
using test::BlockingSocket;
using test::ProgramOutcome;
using test::ReceivedResponse;

/// No other actor changes the configuration, so this one knows what every answer must be.
class ReloadingOperator {
 public:
  void operator()(Scene& scene) {
    switch (scene.any(1, 20)) {
      case 1:
        return refused(scene, "apiVersion: [");
      case 2:
        return refused(scene, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nothing}\n");
      case 3:
        return takenPort(scene);
      case 4:
        return misspelt(scene);
      case 5:
        return unchanged(scene);
      default:
        return another(scene);
    }
  }

 private:
  void another(Scene& scene) {
    served_ = served_.next(scene.random);
    const test::GatewaySpec spec = scene.testbed.spec(served_);
    if (scene.oneIn(3)) {
      isNoticed(scene, spec);
    } else {
      scene.testbed.gateway().reload(spec);
    }
    version_ = served_.version;
    check(scene, "another configuration");
  }

  /// Sends no signal: the gateway watches the files.
  static void isNoticed(Scene& scene, const test::GatewaySpec& spec) {
    static constexpr const char* kSeries = "sluice_config_reloads_total{result=\"success\"}";
    test::GatewayProcess& gateway = scene.testbed.gateway();
    const double before = gateway.metric(kSeries);
    gateway.rewrite(spec);
    scene.ledger.expect(gateway.reaches(kSeries, before + 1), "the changed file is not noticed");
  }

  void refused(Scene& scene, const std::string& text) {
    scene.testbed.gateway().reloadText(text, "failure");
    check(scene, "one that cannot be served");
  }

  /// Everything in the configuration is served except the port.
  void takenPort(Scene& scene) {
    served_ = served_.next(scene.random);
    served_.takenPort = true;
    scene.testbed.gateway().reload(scene.testbed.spec(served_));
    version_ = served_.version;
    check(scene, "one with a port that somebody else has");
  }

  /// Everything in the configuration is served except the one wrong object, whose last good version is served.
  void misspelt(Scene& scene) {
    served_ = served_.next(scene.random);
    served_.misspelt = true;
    scene.testbed.gateway().reload(scene.testbed.spec(served_));
    check(scene, "one with an object that its schema refuses");
  }

  void unchanged(Scene& scene) {
    scene.testbed.gateway().reload(scene.testbed.spec(served_), "unchanged");
    check(scene, "the same again");
  }

  void check(Scene& scene, const std::string& after) {
    checkVersion(scene, after);
    checkPinned(scene, after);
    checkExtraPort(scene, after);
    if (scene.oneIn(5)) checkIssuer(scene, after);
    for (int i = 0; i < Variant::kExtraRoutes; ++i) checkExtraRoute(scene, i, after);
  }

  void checkVersion(Scene& scene, const std::string& after) const {
    const ReceivedResponse got = fetch(scene, "/version");
    const std::string version = std::to_string(version_);
    const bool request = got.body.find("\"x-version: " + version + "\"") != std::string::npos;
    scene.ledger.expect(got.status == 200 && request && got.field("x-version") == version,
                        "/version after " + after + " is not " + version + ": " + summary(got));
  }

  void checkPinned(Scene& scene, const std::string& after) const {
    const ReceivedResponse got = fetch(scene, "/pinned/bytes/100");
    if (served_.pinnedRight) {
      expectAnswer(scene, got, 200, scene.testbed.pattern(100), "/pinned after " + after);
    } else {
      expectOwnAnswer(scene, got, 502, "tls_certificate_error", "/pinned after " + after);
    }
  }

  void checkExtraPort(Scene& scene, const std::string& after) const {
    BlockingSocket socket = BlockingSocket::connect(scene.testbed.extraPort());
    if (!served_.extraListener) {
      // A connection that the kernel accepted before the listener closed is closed without an answer.
      const bool gone = !socket.ok() || (socket.send(getHead("/bytes/1")), socket.readAll().empty());
      scene.ledger.expect(gone, "the extra listener is still there after " + after);
      return;
    }
    socket.send(getHead("/plain/bytes/100"));
    expectAnswer(scene, finalResponse(socket), 200, scene.testbed.pattern(100), "the extra listener after " + after);
  }

  void checkIssuer(Scene& scene, const std::string& after) const {
    for (const bool other : {false, true}) {
      const ProgramOutcome got =
          test::run({"curl", "-sS", "-o", "/dev/null", "--cacert", scene.testbed.authorityFile(other),
                     "https://localhost:" + std::to_string(scene.testbed.gateway().tlsPort()) + "/"});
      const bool right = (got.exitCode == 0) == (other == served_.otherIssuer);
      scene.ledger.expect(right, "the HTTPS listener has the wrong certificate after " + after + ": " + got.errors);
    }
  }

  void checkExtraRoute(Scene& scene, int i, const std::string& after) const {
    const std::string target = "/extra-" + std::to_string(i) + "/bytes/7";
    const bool there = served_.extraRoutes[static_cast<std::size_t>(i)];
    // Without its route, the request matches /, whose origin answers unknown paths with a description.
    const ReceivedResponse got = fetch(scene, target);
    scene.ledger.expect(got.status == 200 && (got.body == scene.testbed.pattern(7)) == there,
                        target + " after " + after + ": " + summary(got));
  }

  Variant served_;
  int version_ = served_.version;
};

/// Uses the listener that comes and goes: a connection may fail at any time, but an answer that begins must be right.
void extraPort(Scene& scene) {
  BlockingSocket socket = BlockingSocket::connect(scene.testbed.extraPort());
  for (int i = 0; i < 5 && socket.ok() && !socket.closed(); ++i) {
    socket.send(getHead("/plain/bytes/5000"));
    const ReceivedResponse got = finalResponse(socket);
    if (got.head.empty()) return scene.ledger.right();
    expectAnswer(scene, got, 200, scene.testbed.pattern(5000), "on the extra port");
  }
}

std::string pageOf(std::uint16_t port, const std::string& target, int& status) {
  BlockingSocket socket = BlockingSocket::connect(port);
  socket.send("GET " + target + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
  const ReceivedResponse got = test::readResponse(socket);
  status = got.status;
  return got.body;
}

void adminPages(Scene& scene) {
  struct Page {
    const char* target;
    const char* holds;
  };
  static constexpr Page kPages[] = {{"/status", "\"served\":\""},
                                    {"/exchanges", "\"silentWorkers\":[]"},
                                    {"/metrics", "sluice_config_state{state=\"InSync\"}"}};
  int status = 0;
  for (const Page& page : kPages) {
    const std::string body = pageOf(scene.testbed.gateway().adminPort(), page.target, status);
    scene.ledger.expect(status == 200 && body.find(page.holds) != std::string::npos,
                        std::string(page.target) + ": " + std::to_string(status) + " " + body.substr(0, 500));
  }
  for (const char* target : {"/healthz", "/readyz"}) {
    const std::string body = pageOf(scene.testbed.gateway().healthPort(), target, status);
    scene.ledger.expect(status == 200, std::string(target) + ": " + std::to_string(status) + " " + body);
  }
}

/// Reloads although nothing has changed.
void hangUp(Scene& scene) {
  scene.testbed.gateway().process().signal(SIGHUP);
  scene.ledger.right();
}

}  // namespace

std::vector<Actor> operators() {
  return {{"reloads", 800ms, ReloadingOperator()},
          {"extra port", 100ms, extraPort},
          {"admin pages", 700ms, adminPages},
          {"hang-ups", 5s, hangUp}};
}

}  // namespace sluice::soak
