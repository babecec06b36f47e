#include "test/integration/support/recording_origin.h"

#include <string_view>
#include <utility>

#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

/// Returns the Content-Length of a request head.
std::size_t lengthIn(const std::string& head) {
  constexpr std::string_view kName = "content-length: ";
  const std::size_t at = head.find(kName);
  return at == std::string::npos ? 0 : std::stoul(head.substr(at + kName.size()));
}

}  // namespace

std::vector<std::string> RecordingOrigin::bodies() const {
  const std::lock_guard lock(mutex_);
  return bodies_;
}

bool RecordingOrigin::hears(std::size_t count) const {
  return eventually([&] { return bodies().size() >= count; });
}

void RecordingOrigin::serve(BlockingSocket& socket, RawOrigin& self) {
  for (std::string head = self.readHead(socket); !head.empty(); head = self.readHead(socket)) {
    std::string body = socket.readExactly(lengthIn(head));
    std::string answer;
    {
      const std::lock_guard lock(mutex_);
      answer = answer_(bodies_.size());
      bodies_.push_back(std::move(body));
    }
    if (answer.empty()) return socket.reset();
    socket.send(answer);
  }
}

}  // namespace sluice::test
