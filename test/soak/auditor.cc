// Reads the access log while it is written: requests to an origin without faults must not fail with 5xx, unless their
// client caused it.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/soak/actor.h"
#include "test/soak/checks.h"

namespace sluice::soak {
namespace {

using namespace std::chrono_literals;

/// Above this size the log is truncated.
constexpr std::streamoff kMostBytes = 32 << 20;

/// The gateway still waits for a client that has ended its side. A client that stops an upload while it is being
/// answered cannot be distinguished from an origin that does so, until streamIdle expires.
bool isFailure(const std::string& line) {
  return contains(line, "\"error.origin\":\"") && !contains(line, "\"error.origin\":\"downstream\"") &&
         !contains(line, "\"error.type\":\"http_response_timeout\"");
}

bool isOfSoundBackend(const std::string& line) {
  static constexpr std::array kSound = {"main", "plain", "files", "grpc", "flip", "service"};
  return std::any_of(kSound.begin(), kSound.end(), [&](const char* name) {
    return line.find("\"backend\":\"test/" + std::string(name) + "\"") != std::string::npos;
  });
}

class Auditor {
 public:
  void operator()(Scene& scene) {
    const std::string& path = scene.testbed.accessLog();
    std::ifstream in(path, std::ios::binary);
    in.seekg(read_);
    std::uint64_t lines = 0;
    for (std::string line; std::getline(in, line) && !in.eof();) {
      read_ = in.tellg();
      ++lines;
      const bool whole = line.starts_with("{\"time\":\"") && line.ends_with('}');
      if (!whole || (isFailure(line) && isOfSoundBackend(line))) scene.ledger.wrong(line);
    }
    scene.ledger.right(lines);
    if (read_ < kMostBytes) return;
    std::filesystem::resize_file(path, 0);
    read_ = 0;
  }

 private:
  std::streamoff read_ = 0;
};

}  // namespace

std::vector<Actor> auditors() { return {{"access log", 500ms, Auditor()}}; }

}  // namespace sluice::soak
