#include "test/integration/support/h2_socket.h"

#include <algorithm>
#include <utility>

namespace sluice::test {
namespace {

constexpr std::size_t kFrameHead = 9;
constexpr std::size_t kSettingSize = 6;

std::uint32_t numberAt(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t number = 0;
  for (const char byte : bytes.substr(at, size)) number = number << 8 | static_cast<unsigned char>(byte);
  return number;
}

}  // namespace

H2Socket::H2Socket(std::uint16_t port, std::string_view settings) : socket_(Socket::connect(port)) {
  send(h2::preface());
  send(settings);
}

H2Socket::H2Socket(Socket&& accepted, std::string_view settings) : socket_(std::move(accepted)) {
  send(settings);
  socket_.readExactly(h2::preface().size());
}

bool H2Socket::readUntil(const std::function<bool()>& done, std::chrono::milliseconds patience) {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (!done()) {
    const auto left = until - std::chrono::steady_clock::now();
    if (left.count() <= 0 || !readFrame(std::chrono::duration_cast<std::chrono::milliseconds>(left))) return false;
  }
  return true;
}

bool H2Socket::readUntil(H2Type type, std::uint32_t stream) {
  return readUntil([&] { return frames_.find(type, stream) != nullptr; });
}

bool H2Socket::readResponse(std::uint32_t stream) {
  return readUntil([&] {
    return std::any_of(frames_.frames().begin(), frames_.frames().end(), [stream](const H2Frame& frame) {
      const bool canEnd = frame.type == H2Type::kHeaders || frame.type == H2Type::kData;
      return frame.stream == stream && canEnd && frame.endsStream();
    });
  });
}

bool H2Socket::readToEnd() {
  readUntil([] { return false; });
  return socket_.closed();
}

bool H2Socket::isServed() {
  const std::size_t before = pongs();
  return send(h2::ping()) && readUntil([&] { return pongs() > before; });
}

std::string H2Socket::status(std::uint32_t stream) const {
  const H2Frame* head = frames_.find(H2Type::kHeaders, stream);
  return head == nullptr ? std::string() : head->value(":status");
}

std::uint32_t H2Socket::setting(std::uint16_t id, std::uint32_t otherwise) const {
  const H2Frame* settings = frames_.find(H2Type::kSettings, 0);
  if (settings == nullptr) return otherwise;
  const std::string& entries = settings->payload;
  for (std::size_t at = 0; at + kSettingSize <= entries.size(); at += kSettingSize) {
    if (numberAt(entries, at, 2) == id) return numberAt(entries, at + 2, 4);
  }
  return otherwise;
}

std::uint64_t H2Socket::windowUpdates(std::uint32_t stream) const {
  std::uint64_t sum = 0;
  for (const H2Frame& frame : frames_.frames()) {
    if (frame.type == H2Type::kWindowUpdate && frame.stream == stream) sum += frame.firstWord();
  }
  return sum;
}

std::int64_t H2Socket::goodbye() const {
  std::int64_t code = -1;
  for (const H2Frame& frame : frames_.frames()) {
    if (frame.type == H2Type::kGoaway) code = frame.errorCode();
  }
  return code;
}

std::size_t H2Socket::pongs() const {
  const auto& all = frames_.frames();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const H2Frame& frame) {
    return frame.type == H2Type::kPing && (frame.flags & h2flag::kAck) != 0;
  }));
}

bool H2Socket::readFrame(std::chrono::milliseconds patience) {
  const std::string head = socket_.readExactly(kFrameHead, patience);
  frames_.feed(head);
  if (head.size() < kFrameHead) return false;
  const std::size_t length = numberAt(head, 0, 3);
  const std::string payload = socket_.readExactly(length, patience);
  frames_.feed(payload);
  return payload.size() == length;
}

}  // namespace sluice::test
