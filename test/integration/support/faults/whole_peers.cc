#include "test/integration/support/faults/whole_peers.h"

#include <poll.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <functional>
#include <sstream>
#include <string_view>
#include <utility>

namespace sluice::test {
namespace {

constexpr std::size_t kPiece = 16384;
constexpr std::uint32_t kWindow = 4 * 1024 * 1024;
constexpr std::uint32_t kMostStreams = 15;  // of one connection, all of whose bytes are kept

/// Returns the value of a field; empty if it is not there.
std::string valueIn(std::string_view head, std::string_view name) {
  ReceivedResponse message;
  message.head = head;
  return message.field(name).value_or("");
}

using PeerFields = std::map<std::string, std::vector<std::string>>;

void note(PeerFields& fields, const std::string& name, std::string_view value) {
  const bool isMeant = name.starts_with("x-") || name == "content-encoding";
  if (isMeant) fields[name].emplace_back(value);
}

/// Notes the fields of a head of HTTP/1.1, or of trailers.
void noteLines(PeerFields& fields, const std::string& head) {
  std::istringstream lines(head);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    note(fields, name, line.substr(colon + 2, line.find('\r') - colon - 2));
  }
}

/// Gets the number of bytes of a body that have come.
using PeerProgress = std::function<void(std::size_t)>;

/// Reads chunks up to the last one, and the trailers.
void readChunks(BlockingSocket& socket, PeerMessage& message, const PeerProgress& progress) {
  while (true) {
    const std::string line = socket.readUntil("\r\n");
    if (!line.ends_with("\r\n")) return;
    const std::size_t size = std::stoul(line, nullptr, 16);
    if (size == 0) {
      std::string trailers = socket.readUntil("\r\n");
      while (trailers.size() > 2 && trailers.ends_with("\r\n") && !trailers.ends_with("\r\n\r\n")) {
        const std::string more = socket.readUntil("\r\n");
        if (more.empty()) return;
        trailers += more;
      }
      noteLines(message.trailers, trailers);
      message.isWhole = trailers.ends_with("\r\n");
      return;
    }
    const std::string bytes = socket.readExactly(size + 2);
    message.body += bytes.substr(0, size);
    if (progress) progress(message.body.size());
    if (bytes.size() < size + 2) return;
  }
}

void readBody(BlockingSocket& socket, const std::string& head, PeerMessage& message,
              const PeerProgress& progress = {}) {
  message.isMarked = valueIn(head, "x-guard") == "seen";
  noteLines(message.fields, head);
  const std::string length = valueIn(head, "content-length");
  if (!valueIn(head, "transfer-encoding").empty()) return readChunks(socket, message, progress);
  if (!length.empty()) message.body = socket.readExactly(std::stoul(length));
  message.isWhole = length.empty() || message.body.size() == std::stoul(length);
}

std::string chunk(std::string_view bytes) {
  char size[16];
  std::snprintf(size, sizeof size, "%zx\r\n", bytes.size());
  return size + std::string(bytes) + "\r\n";
}

/// Returns the lines of a head that state how a body is framed.
std::string framingLines(PeerFraming framing, std::size_t size) {
  if (framing == PeerFraming::kNone) return "";
  if (framing == PeerFraming::kChunked) return "Transfer-Encoding: chunked\r\n";
  return "Content-Length: " + std::to_string(size) + "\r\n";
}

/// Returns fields as lines of HTTP/1.1.
std::string linesOf(const H2Lines& fields) {
  std::string lines;
  for (const auto& [name, value] : fields) lines += name + ": " + value + "\r\n";
  return lines;
}

/// Returns the body in pieces that may be sent one by one.
std::string framed(PeerFraming framing, std::string_view body, const H2Lines& trailers = {}) {
  if (framing != PeerFraming::kChunked) return std::string(body);
  std::string all;
  for (std::size_t at = 0; at < body.size(); at += kPiece) all += chunk(body.substr(at, kPiece));
  return all + "0\r\n" + linesOf(trailers) + "\r\n";
}

PeerAnswer wishedIn(const std::string& wish) {
  const PeerFraming framing = wish.starts_with("chunked") ? PeerFraming::kChunked : PeerFraming::kLength;
  return {{}, patternOf(std::stoul(wish.substr(wish.find(' ') + 1))), framing, {}};
}

std::string wishOf(const PeerRequest& request) {
  return (request.answerFraming == PeerFraming::kChunked ? "chunked " : "length ") + std::to_string(request.answerSize);
}

/// Returns true if the peer has sent something, or has ended.
bool isReadable(const BlockingSocket& socket) {
  pollfd one{socket.fd(), POLLIN, 0};
  return poll(&one, 1, 0) > 0;
}

/// Sends until the peer answers.
void sendUntilAnswered(BlockingSocket& socket, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size() && !isReadable(socket);) {
    pollfd one{socket.fd(), POLLIN | POLLOUT, 0};
    if (poll(&one, 1, static_cast<int>(std::chrono::milliseconds(kPatience).count())) <= 0) return;
    if ((one.revents & POLLOUT) == 0) return;
    at += socket.sendSome(bytes.substr(at, kPiece), std::chrono::milliseconds(0));
  }
}

}  // namespace

std::string patternOf(std::size_t size) {
  std::string body(size, ' ');
  for (std::size_t i = 0; i < size; ++i) body[i] = static_cast<char>('a' + (i * 7 + i / 1021) % 23);
  return body;
}

std::optional<PeerMessage> WholeOrigin::heard(int number) const {
  const std::lock_guard lock(mutex_);
  const auto found = heard_.find(number);
  return found == heard_.end() ? std::nullopt : std::optional(found->second);
}

std::size_t WholeOrigin::bytes(int number) const {
  const std::lock_guard lock(mutex_);
  const auto found = come_.find(number);
  return found == come_.end() ? 0 : found->second;
}

void WholeOrigin::answer(PeerAnswer answer) {
  const std::lock_guard lock(mutex_);
  answer_ = std::move(answer);
}

void WholeOrigin::record(int number, PeerMessage&& message) {
  const std::lock_guard lock(mutex_);
  heard_[number] = std::move(message);
}

void WholeOrigin::serve(BlockingSocket& socket, RawOrigin& self) {
  for (std::string head = self.readHead(socket); !head.empty(); head = self.readHead(socket)) {
    const int number = std::stoi(valueIn(head, "x-number"));
    const std::string wish = valueIn(head, "x-wish");
    PeerMessage message;
    record(number, {});
    readBody(socket, head, message, [&](std::size_t bytes) {
      const std::lock_guard lock(mutex_);
      come_[number] = bytes;
    });
    const bool isWhole = message.isWhole;
    record(number, std::move(message));
    if (!isWhole) return;
    PeerAnswer answer;
    {
      const std::lock_guard lock(mutex_);
      if (answer_) answer = *answer_;
      if (!answer_) answer = wishedIn(wish);
    }
    if (!socket.send("HTTP/1.1 200 OK\r\n" + linesOf(answer.fields) + framingLines(answer.framing, answer.body.size()) +
                     "\r\n" + framed(answer.framing, answer.body, answer.trailers)))
      return;
  }
}

PeerMessage WholeClient::ask(const PeerRequest& request) {
  return speaksHttp2_ ? askHttp2(request) : askHttp1(request);
}

PeerMessage WholeClient::askHttp1(const PeerRequest& request) const {
  BlockingSocket socket = BlockingSocket::connect(port_);
  socket.send((request.framing == PeerFraming::kNone ? "GET " : "POST ") + request.path +
              " HTTP/1.1\r\nHost: any.test\r\nx-number: " + std::to_string(request.number) +
              "\r\nx-wish: " + wishOf(request) + "\r\n" + linesOf(request.fields) +
              framingLines(request.framing, request.body.size()) + "\r\n");
  if (request.framing != PeerFraming::kNone)
    sendUntilAnswered(socket, framed(request.framing, request.body, request.trailers));
  PeerMessage answer;
  const std::string head = socket.readUntil("\r\n\r\n");
  if (!head.starts_with("HTTP/1.1 ") || !head.ends_with("\r\n\r\n")) return answer;
  answer.status = std::stoi(head.substr(9, 3));
  readBody(socket, head, answer);
  return answer;
}

PeerMessage WholeClient::askHttp2(const PeerRequest& request) {
  if (http2_ == nullptr || next_ > kMostStreams || http2_->closed() || http2_->seen().goaway() != nullptr) {
    http2_ = std::make_unique<H2Client>(
        port_,
        std::string(h2::preface()) + h2::settings({{h2setting::kInitialWindowSize, kWindow}}) + h2::settingsAck());
    next_ = 1;
    sent_ = 0;
    http2_->readFrame(H2Type::kSettings, 0);
  }
  const std::uint32_t stream = std::exchange(next_, next_ + 2);
  const bool hasBody = request.framing != PeerFraming::kNone;
  H2Lines lines = hasBody ? h2::post(request.path) : h2::get(request.path);
  lines.emplace_back("x-number", std::to_string(request.number));
  lines.emplace_back("x-wish", wishOf(request));
  lines.insert(lines.end(), request.fields.begin(), request.fields.end());
  if (request.framing == PeerFraming::kLength) {
    lines.emplace_back("content-length", std::to_string(request.body.size()));
  }
  http2_->send(h2::windowUpdate(0, static_cast<std::uint32_t>(request.answerSize + 65535)) +
               h2::headers(stream, lines, !hasBody));
  if (hasBody) sendBody(request, stream);
  http2_->readUntil([&] { return hasEnded(stream); });
  PeerMessage answer;
  const std::string status = http2_->status(stream);
  if (status.empty()) return answer;
  answer.status = std::stoi(status);
  const H2Frame& head = *http2_->seen().find(H2Type::kHeaders, stream);
  answer.isMarked = head.value("x-guard") == "seen";
  for (const auto& [name, value] : head.lines) note(answer.fields, name, value);
  for (const H2Frame& frame : http2_->seen().frames()) {
    const bool isTrailers = frame.stream == stream && frame.type == H2Type::kHeaders && &frame != &head;
    if (!isTrailers) continue;
    for (const auto& [name, value] : frame.lines) note(answer.trailers, name, value);
  }
  answer.body = http2_->seen().body(stream);
  const auto& frames = http2_->seen().frames();
  answer.isWhole = std::any_of(frames.begin(), frames.end(), [&](const H2Frame& frame) {
    return frame.stream == stream && (frame.type == H2Type::kHeaders || frame.type == H2Type::kData) &&
           frame.endsStream();
  });
  return answer;
}

bool WholeClient::hasEnded(std::uint32_t stream) const {
  const auto& frames = http2_->seen().frames();
  return http2_->closed() || std::any_of(frames.begin(), frames.end(), [&](const H2Frame& frame) {
           const bool canEnd = frame.type == H2Type::kHeaders || frame.type == H2Type::kData;
           return frame.stream == stream && (frame.type == H2Type::kRstStream || (canEnd && frame.endsStream()));
         });
}

/// Sends as the gateway grants it.
void WholeClient::sendBody(const PeerRequest& request, std::uint32_t stream) {
  const std::string_view body = request.body;
  const std::uint64_t initial =
      http2_->seen().find(H2Type::kSettings, 0)->setting(h2setting::kInitialWindowSize).value_or(65535);
  std::size_t at = 0;
  const auto room = [&] {
    const std::uint64_t ofStream = initial + http2_->seen().granted(stream) - at;
    const std::uint64_t ofConnection = 65535 + http2_->seen().granted(0) - sent_;
    return std::min({ofStream, ofConnection, std::uint64_t{kPiece}, std::uint64_t{body.size() - at}});
  };
  while (true) {
    if (at < body.size() && !http2_->readUntil([&] { return room() > 0 || hasEnded(stream); })) return;
    if (hasEnded(stream)) return;
    const std::uint64_t count = room();
    const bool isLast = at + count == body.size();
    http2_->send(h2::data(stream, body.substr(at, count), isLast && request.trailers.empty()));
    at += count;
    sent_ += count;
    if (!isLast) continue;
    if (!request.trailers.empty()) http2_->send(h2::headers(stream, request.trailers, true));
    return;
  }
}

}  // namespace sluice::test
