#include "test/integration/support/h2_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sluice::test {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

H2Client::H2Client(std::uint16_t port, const std::string& hello) : socket_(BlockingSocket::connect(port)) {
  socket_.send(hello);
}

H2Client::H2Client(BlockingSocket&& accepted) : socket_(std::move(accepted)) { socket_.send(h2::settings({})); }

bool H2Client::readUntil(const std::function<bool()>& holds, std::chrono::milliseconds patience) {
  const auto until = Clock::now() + patience;
  while (!holds()) {
    if (!readSome(until)) return holds();
  }
  return true;
}

bool H2Client::readFrame(H2Type type, std::uint32_t stream) {
  return readUntil([&] { return reader_.find(type, stream) != nullptr; });
}

bool H2Client::readStream(std::uint32_t stream) {
  return readUntil([&] {
    const auto& all = reader_.frames();
    return std::any_of(all.begin(), all.end(), [stream](const H2Frame& frame) {
      const bool canEnd = frame.type == H2Type::kHeaders || frame.type == H2Type::kData;
      return frame.stream == stream && canEnd && frame.endsStream();
    });
  });
}

bool H2Client::isServed() {
  const std::size_t before = reader_.count(H2Type::kPing);
  return send(h2::ping()) && readUntil([&] { return reader_.count(H2Type::kPing) > before; });
}

bool H2Client::readToEnd() {
  readUntil([this] { return closed_; });
  return closed_;
}

std::string H2Client::status(std::uint32_t stream) const {
  const H2Frame* head = reader_.find(H2Type::kHeaders, stream);
  return head == nullptr ? "" : head->value(":status");
}

bool H2Client::isSettled(std::uint32_t stream) const {
  return !status(stream).empty() || reader_.find(H2Type::kRstStream, stream) != nullptr || reader_.goaway() != nullptr;
}

std::uint32_t H2Client::goawayCode() const {
  return reader_.goaway() == nullptr ? kNoGoaway : reader_.goaway()->errorCode();
}

bool H2Client::readSome(Clock::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  pollfd one{socket_.fd(), POLLIN, 0};
  if (closed_ || left <= 0 || poll(&one, 1, static_cast<int>(left)) <= 0) return false;
  std::array<char, 65536> bytes{};
  const ssize_t count = recv(socket_.fd(), bytes.data(), bytes.size(), 0);
  closed_ = count <= 0;
  if (count > 0) reader_.feed({bytes.data(), static_cast<std::size_t>(count)});
  return count > 0;
}

}  // namespace sluice::test
