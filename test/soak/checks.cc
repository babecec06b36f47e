#include "test/soak/checks.h"

namespace sluice::soak {
namespace {

constexpr std::size_t kShown = 300;

}  // namespace

std::string getHead(const std::string& target, const std::string& more) {
  return "GET " + target + " HTTP/1.1\r\nHost: any.test\r\n" + more + "\r\n";
}

std::string postHead(const std::string& target, const std::string& more) {
  return "POST " + target + " HTTP/1.1\r\nHost: any.test\r\n" + more + "\r\n";
}

test::ReceivedResponse fetch(Scene& scene, const std::string& target) {
  test::BlockingSocket socket = test::BlockingSocket::connect(scene.testbed.gateway().port());
  socket.send(getHead(target));
  return finalResponse(socket);
}

test::ReceivedResponse finalResponse(test::BlockingSocket& socket, bool bodiless) {
  test::ReceivedResponse got = test::readResponse(socket, bodiless);
  while (got.status >= 100 && got.status < 200) got = test::readResponse(socket, bodiless);
  return got;
}

std::string summary(const test::ReceivedResponse& got) {
  return "status " + std::to_string(got.status) + ", " + std::to_string(got.body.size()) +
         " bytes: " + got.head.substr(0, kShown) + got.body.substr(0, kShown);
}

bool expectAnswer(Scene& scene, const test::ReceivedResponse& got, int status, const std::string& body,
                  const std::string& what) {
  if (got.status == status && got.body == body) {
    scene.ledger.right();
    return true;
  }
  scene.ledger.wrong(what + ": not " + std::to_string(status) + " with " + std::to_string(body.size()) + " bytes but " +
                     summary(got));
  return false;
}

bool expectOwnAnswer(Scene& scene, const test::ReceivedResponse& got, int status, const std::string& code,
                     const std::string& what) {
  const bool ours = got.status == status && got.body.find("\"" + code + "\"") != std::string::npos;
  if (ours) {
    scene.ledger.right();
  } else {
    scene.ledger.wrong(what + ": not " + std::to_string(status) + " " + code + " but " + summary(got));
  }
  return ours;
}

std::string randomText(Scene& scene, std::size_t size) {
  static constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz012345";
  std::string text;
  text.reserve(size);
  while (text.size() < size) text += kLetters[scene.random() % kLetters.size()];
  return text;
}

}  // namespace sluice::soak
