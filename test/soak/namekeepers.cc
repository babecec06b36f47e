// Actors that change the addresses of names, and stop the name server itself.
#include <string>
#include <vector>

#include "test/soak/actor.h"
#include "test/soak/checks.h"

namespace sluice::soak {
namespace {

using namespace std::chrono_literals;
using test::ReceivedResponse;

bool isNameError(const ReceivedResponse& got) {
  return got.status == 503 && got.body.find("\"dns_error\"") != std::string::npos;
}

/// Gives the names other addresses, and stops the name server for a while.
class Namekeeper {
 public:
  void operator()(Scene& scene) {
    move(scene);
    if (!scene.course.pause(3s)) return;
    gone_ = !gone_;
    move(scene);
    if (!comesToBe(scene)) return;
    if (!scene.course.pause(1s)) return;
    test::NameServer& names = scene.testbed.names();
    const bool dies = scene.oneIn(2);
    dies ? names.die() : names.fallSilent();
    scene.course.pause(std::chrono::seconds(scene.any(2, 8)));
    dies ? names.revive() : names.speakAgain();
    scene.ledger.right();
  }

 private:
  void move(Scene& scene) const {
    static const std::vector<std::string> kPlaces[] = {{"127.0.0.2"}, {"127.0.0.3"}, {"127.0.0.2", "127.0.0.3"}};
    scene.testbed.names().change(scene.testbed.records(kPlaces[scene.random() % std::size(kPlaces)], !gone_));
  }

  /// The TTL is a second, and failures are cached as long; a connection may outlive its name by upstreamIdle.
  bool comesToBe(Scene& scene) const {
    const auto until = Clock::now() + kSlack;
    while (Clock::now() < until) {
      const ReceivedResponse got = fetch(scene, "/gone/bytes/10");
      if (gone_ ? isNameError(got) : got.status == 200) {
        scene.ledger.right();
        return true;
      }
      // The pause is so long that the idle connection is closed too.
      if (!scene.course.pause(kUpstreamIdle + 500ms)) return false;
    }
    scene.ledger.wrong(std::string("gone.test does not ") + (gone_ ? "go" : "come back"));
    return true;
  }

  bool gone_ = false;
};

void asksForNoName(Scene& scene) {
  const ReceivedResponse got = fetch(scene, "/never/bytes/10");
  const bool late = got.status == 504 && got.body.find("\"dns_timeout\"") != std::string::npos;
  scene.ledger.expect(isNameError(got) || late, "/never: " + summary(got));
}

}  // namespace

std::vector<Actor> namekeepers() { return {{"name server", 2s, Namekeeper()}, {"no such name", 500ms, asksForNoName}}; }

}  // namespace sluice::soak
