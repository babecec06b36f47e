#include "test/integration/support/blocking_socket.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <memory>
#include <sstream>
#include <utility>
#include <vector>

#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using Time = std::chrono::steady_clock;

sockaddr_in socketAddress(std::uint16_t port, const char* ip = "127.0.0.1") {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  inet_pton(AF_INET, ip, &address.sin_addr);
  return address;
}

std::uint16_t portAt(int fd, decltype(getsockname)* side) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  side(fd, reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

struct Queues {
  std::uint64_t unacknowledged = 0;
  std::uint64_t unread = 0;
};

/// Returns the queues of the connection between these ports, at its end with the first; empty if there is none.
Queues queuesOf(std::uint16_t local, std::uint16_t remote) {
  std::ifstream in("/proc/net/tcp");
  std::string line;
  std::getline(in, line);
  while (std::getline(in, line)) {
    std::istringstream fields(line);
    std::string number;
    std::string near;
    std::string far;
    std::string state;
    std::string queues;
    fields >> number >> near >> far >> state >> queues;
    const auto port = [](const std::string& address) {
      return std::stoul(address.substr(address.find(':') + 1), nullptr, 16);
    };
    if (port(near) != local || port(far) != remote) continue;
    return {std::stoull(queues, nullptr, 16), std::stoull(queues.substr(queues.find(':') + 1), nullptr, 16)};
  }
  return {};
}

bool waitFor(int fd, short events, Time::time_point until) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Time::now()).count();
  pollfd one{fd, events, 0};
  return poll(&one, 1, static_cast<int>(std::max<decltype(left)>(left, 0))) > 0;
}

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

std::string readChunked(BlockingSocket& socket, std::chrono::milliseconds patience) {
  std::string body;
  while (true) {
    const std::string line = socket.readUntil("\r\n", patience);
    if (line.empty()) return body;
    const std::size_t size = std::stoul(line, nullptr, 16);
    if (size == 0) break;
    body += socket.readExactly(size, patience);
    socket.readExactly(2, patience);
  }
  while (socket.readUntil("\r\n", patience).size() > 2) {
  }
  return body;
}

std::optional<std::string> fieldOf(std::string_view head, std::string_view name) {
  const std::string wanted = "\r\n" + std::string(name) + ":";
  const std::size_t at = lowerCase(head).find(wanted);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t begin = head.find_first_not_of(' ', at + wanted.size());
  return std::string(head.substr(begin, head.find("\r\n", begin) - begin));
}

/// Returns the body that the fields of `head` announce, or nothing if they announce none.
std::optional<std::string> readAnnounced(BlockingSocket& socket, std::string_view head,
                                         std::chrono::milliseconds patience) {
  if (fieldOf(head, "transfer-encoding")) return readChunked(socket, patience);
  if (const auto length = fieldOf(head, "content-length")) return socket.readExactly(std::stoul(*length), patience);
  return std::nullopt;
}

/// Holds ports until the test, or the suite, that asked for them has ended; otherwise as long as the process runs.
class HeldPorts : public testing::EmptyTestEventListener {
 public:
  static HeldPorts& ofThisProcess() {
    // GoogleTest deletes its listeners when the process ends.
    static HeldPorts* const kPorts = [] {
      auto listener = std::make_unique<HeldPorts>();
      HeldPorts* const found = listener.get();
      testing::UnitTest::GetInstance()->listeners().Append(listener.release());
      return found;
    }();
    return *kPorts;
  }

  void hold(BlockingSocket holder) {
    const testing::UnitTest& process = *testing::UnitTest::GetInstance();
    (process.current_test_info() != nullptr    ? ofTest_
     : process.current_test_suite() != nullptr ? ofSuite_
                                               : ofProcess_)
        .push_back(std::move(holder));
  }

  void OnTestEnd(const testing::TestInfo&) override { ofTest_.clear(); }
  void OnTestSuiteEnd(const testing::TestSuite&) override { ofSuite_.clear(); }

 private:
  std::vector<BlockingSocket> ofTest_;
  std::vector<BlockingSocket> ofSuite_;
  std::vector<BlockingSocket> ofProcess_;
};

}  // namespace

// A socket stays bound to the port, without listening. So the kernel assigns the port neither to another test nor to an
// outgoing connection, while a program that asks for this very port with SO_REUSEADDR, as every server does, gets it.
std::uint16_t freePort() {
  BlockingSocket holder(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int on = 1;
  setsockopt(holder.fd(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address = socketAddress(0);
  socklen_t length = sizeof address;
  if (bind(holder.fd(), reinterpret_cast<const sockaddr*>(&address), length) != 0) return 0;
  getsockname(holder.fd(), reinterpret_cast<sockaddr*>(&address), &length);
  HeldPorts::ofThisProcess().hold(std::move(holder));
  return ntohs(address.sin_port);
}

BlockingSocket BlockingSocket::connect(std::uint16_t port, int receiveBuffer, const char* from) {
  return connectBetween(from, "127.0.0.1", port, receiveBuffer);
}

BlockingSocket BlockingSocket::connectTo(const std::string& address, std::uint16_t port) {
  return connectBetween("0.0.0.0", address.c_str(), port, 0);
}

BlockingSocket BlockingSocket::connectBetween(const char* from, const char* to, std::uint16_t port, int receiveBuffer) {
  BlockingSocket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (receiveBuffer > 0) setsockopt(socket.fd_, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, sizeof receiveBuffer);
  const sockaddr_in own = socketAddress(0, from);
  const sockaddr_in address = socketAddress(port, to);
  const int late = 1;  // the kernel chooses the port as if there were no bind()
  setsockopt(socket.fd_, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &late, sizeof late);
  if (::bind(socket.fd_, reinterpret_cast<const sockaddr*>(&own), sizeof own) != 0) socket.close();
  if (::connect(socket.fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket.close();
  const int on = 1;
  if (socket.ok()) setsockopt(socket.fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

BlockingSocket::BlockingSocket(BlockingSocket&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      buffer_(std::move(other.buffer_)),
      closed_(other.closed_),
      reset_(other.reset_) {}

BlockingSocket& BlockingSocket::operator=(BlockingSocket&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(buffer_, other.buffer_);
  std::swap(closed_, other.closed_);
  std::swap(reset_, other.reset_);
  return *this;
}

BlockingSocket::~BlockingSocket() { close(); }

bool BlockingSocket::send(std::string_view bytes, std::chrono::milliseconds patience) {
  return sendSome(bytes, patience) == bytes.size();
}

std::size_t BlockingSocket::sendSome(std::string_view bytes, std::chrono::milliseconds patience) {
  std::size_t sent = 0;
  while (fd_ >= 0 && sent < bytes.size()) {
    if (!waitFor(fd_, POLLOUT, Time::now() + patience)) break;
    const ssize_t count = ::send(fd_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) continue;
    if (count < 0) break;
    sent += static_cast<std::size_t>(count);
  }
  return sent;
}

bool BlockingSocket::fill(Time::time_point until) {
  if (fd_ < 0 || closed_ || !waitFor(fd_, POLLIN, until)) return false;
  std::array<char, 65536> bytes{};
  const ssize_t count = recv(fd_, bytes.data(), bytes.size(), 0);
  if (count <= 0) {
    closed_ = true;
    reset_ = count < 0;
    return false;
  }
  buffer_.append(bytes.data(), static_cast<std::size_t>(count));
  return true;
}

std::string BlockingSocket::readUntil(std::string_view mark, std::chrono::milliseconds patience) {
  const Time::time_point until = Time::now() + patience;
  std::size_t at = std::string::npos;
  std::size_t from = 0;
  while ((at = buffer_.find(mark, from)) == std::string::npos) {
    from = buffer_.size() < mark.size() ? 0 : buffer_.size() - mark.size() + 1;
    if (!fill(until)) return std::exchange(buffer_, {});
  }
  std::string result = buffer_.substr(0, at + mark.size());
  buffer_.erase(0, at + mark.size());
  return result;
}

std::string BlockingSocket::readExactly(std::size_t count, std::chrono::milliseconds patience) {
  const Time::time_point until = Time::now() + patience;
  while (buffer_.size() < count && fill(until)) {
  }
  std::string result = buffer_.substr(0, count);
  buffer_.erase(0, count);
  return result;
}

std::string BlockingSocket::readAll(std::chrono::milliseconds patience) {
  const Time::time_point until = Time::now() + patience;
  while (fill(until)) {
  }
  return std::exchange(buffer_, {});
}

bool BlockingSocket::waitUntilRead() const {
  const std::uint16_t here = portAt(fd_, getsockname);
  const std::uint16_t there = portAt(fd_, getpeername);
  return eventually([&] { return queuesOf(here, there).unacknowledged == 0 && queuesOf(there, here).unread == 0; });
}

void BlockingSocket::shutdownWrite() { ::shutdown(fd_, SHUT_WR); }

void BlockingSocket::reset() {
  const linger hard{1, 0};
  setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
  close();
}

void BlockingSocket::close() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

std::optional<std::string> ReceivedResponse::field(std::string_view name) const { return fieldOf(head, name); }

ReceivedResponse readResponse(BlockingSocket& socket, bool bodiless, std::chrono::milliseconds patience) {
  ReceivedResponse response;
  response.head = socket.readUntil("\r\n\r\n", patience);
  if (!response.head.starts_with("HTTP/1.") || !response.head.ends_with("\r\n\r\n")) return response;
  response.status = std::stoi(response.head.substr(9, 3));
  if (bodiless || response.status < 200 || response.status == 204 || response.status == 304) return response;
  auto announced = readAnnounced(socket, response.head, patience);
  response.body = announced ? *std::move(announced) : socket.readAll(patience);
  return response;
}

std::string readRequestBody(BlockingSocket& socket, std::string_view head, std::chrono::milliseconds patience) {
  return readAnnounced(socket, head, patience).value_or("");
}

}  // namespace sluice::test
