#include "proxy/server/commands/admin_client.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/http/codec.h"

namespace sluice::server {
namespace {

constexpr int kPatienceSeconds = 30;
constexpr std::size_t kPiece = 64 * 1024;

struct AdminReply {
  std::uint16_t status = 0;
  std::string body;
};

/// Keeps the response to the one request, or hands its body to `user`, who may be null.
class ReplySink final : public http::ClientSink {
 public:
  ReplySink(base::ChunkPool& pool, std::string_view body, const FollowedPage* user) : request_(pool), user_(user) {
    request_.bytes.append(body);
    request_.finish();
  }

  bool over() const { return over_ || ended_; }
  /// Returns true if the user has ended the response.
  bool ended() const { return ended_; }
  void end() { ended_ = true; }
  const std::optional<base::Error>& failure() const { return failure_; }
  AdminReply take() { return std::move(reply_); }

  void onInterim(http::Token, http::ResponseMessage&&) override {}
  void onResponse(http::Token, http::ResponseMessage&& message) override {
    reply_.status = message.head.status;
    over_ = message.head.body == http::Body::kNone;
  }
  void onResponseBody(http::Token, std::string_view bytes) override {
    if (user_ == nullptr || reply_.status != 200) {
      reply_.body += bytes;
    } else if (!user_->onBytes(bytes)) {
      ended_ = true;
    }
  }
  void onResponseEnd(http::Token) override { over_ = true; }
  void onResponseEnd(http::Token, http::Trailers&&) override { over_ = true; }
  void onResponseReset(http::Token, const base::Error& error, bool) override {
    failure_ = error;
    over_ = true;
  }
  http::BodyPipe* requestBody(http::Token) override { return &request_; }
  void onRequestBodyTaken(http::Token, std::size_t) override {}
  void onRequestSent(http::Token) override {}
  void onLimitHit(http::Limit) override {}

 private:
  http::BodyPipe request_;
  const FollowedPage* const user_;
  AdminReply reply_;
  std::optional<base::Error> failure_;
  bool over_ = false;
  bool ended_ = false;
};

/// A connection that blocks, for at most kPatienceSeconds at a time.
class AdminSocket {
 public:
  explicit AdminSocket(const net::Address& at)
      : fd_(::socket(at.isIpv6() ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval patience{kPatienceSeconds, 0};
    ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    connected_ = ::connect(fd_, at.sockaddrPtr(), at.length()) == 0;
  }
  AdminSocket(const AdminSocket&) = delete;
  AdminSocket& operator=(const AdminSocket&) = delete;
  ~AdminSocket() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool connected() const { return connected_; }
  int descriptor() const { return fd_; }
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t count = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }
  /// Returns nothing if the connection is broken; an empty piece if it has ended.
  std::optional<std::string> receive() const {
    std::string piece(kPiece, '\0');
    for (;;) {
      const ssize_t count = ::recv(fd_, piece.data(), piece.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return std::nullopt;
      piece.resize(static_cast<std::size_t>(count));
      return piece;
    }
  }

 private:
  const int fd_;
  bool connected_ = false;
};

base::Error unanswered(const net::Address& at, std::string_view why) {
  return base::Error::config("no gateway answers at " + at.toString() + ": " + std::string(why) +
                             "; --admin names the address of its admin port");
}

http::RequestHead headOf(base::Arena& arena, http::Method method, const net::Address& at, const std::string& target,
                         std::string_view body) {
  http::RequestHead head;
  head.method = method;
  head.methodText = method == http::Method::kPost ? "POST" : "GET";
  head.authority = arena.copy(at.toString());
  head.target = arena.copy(target);
  head.headers.add(arena, "connection", "close");
  if (method != http::Method::kPost) return head;
  head.body = http::Body::kLength;
  head.contentLength = body.size();
  return head;
}

/// Waits for bytes of the gateway, and meanwhile tells the user of the descriptors that are readable. Returns false if
/// nothing came for kPatienceSeconds.
bool awaitBytes(const AdminSocket& socket, const FollowedPage& user, ReplySink& sink) {
  std::vector<pollfd> watched{{socket.descriptor(), POLLIN, 0}};
  for (const int each : user.watched) watched.push_back({each, POLLIN, 0});
  while (!sink.over() && watched.front().revents == 0) {
    const int ready = ::poll(watched.data(), watched.size(), kPatienceSeconds * 1000);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return false;
    for (std::size_t i = 1; i < watched.size(); ++i) {
      if (watched[i].revents != 0 && !user.onReady(watched[i].fd)) sink.end();
    }
  }
  return true;
}

base::Error silent(const net::Address& at) { return unanswered(at, "nothing came for 30 seconds"); }

/// `user` may be null.
base::Result<AdminReply> replyOf(const net::Address& at, http::Method method, const std::string& target,
                                 std::string_view body, const FollowedPage* user) {
  const AdminSocket socket(at);
  if (!socket.connected()) return unanswered(at, std::strerror(errno));
  base::ChunkPool pool;
  base::Arena arena(pool);
  ReplySink sink(pool, body, user);
  const std::unique_ptr<http::ClientCodec> codec = http::makeH1ClientCodec(sink, pool, http::Limits());
  const http::StreamId stream = codec->sendRequest(1, headOf(arena, method, at, target, body), http::Scheme::kHttp);
  base::ByteQueue out(pool);
  while (codec->wantsProduce()) codec->produce(out, kPiece);
  // The gateway may answer before it has read all of a body that it refuses.
  while (!out.empty() && socket.send(out.front())) out.consume(out.front().size());
  while (!sink.over()) {
    if (user != nullptr && !awaitBytes(socket, *user, sink)) return silent(at);
    if (sink.ended()) break;
    const std::optional<std::string> piece = socket.receive();
    if (!piece) return errno == EAGAIN ? silent(at) : unanswered(at, std::strerror(errno));
    if (piece->empty()) {
      codec->feedEnd(true);
      break;
    }
    codec->feed(*piece);
    codec->grant(stream, piece->size());
  }
  if (sink.failure() && !sink.ended()) return unanswered(at, sink.failure()->detail);
  AdminReply reply = sink.take();
  if (user != nullptr && reply.status == 200 && !sink.ended()) return unanswered(at, "it has ended");
  return reply;
}

base::Error refusalOf(const AdminReply& reply) {
  std::string answer = reply.body;
  if (answer.ends_with('\n')) answer.pop_back();
  base::Error error = base::Error::config(std::move(answer));
  error.status = reply.status;
  return error;
}

}  // namespace

base::Result<std::string> askAdmin(const net::Address& at, http::Method method, const std::string& target,
                                   std::string_view body) {
  base::Result<AdminReply> reply = replyOf(at, method, target, body, nullptr);
  if (!reply) return reply.error();
  if (reply->status != 200) return refusalOf(*reply);
  return std::move(reply->body);
}

base::Status followAdminPage(const net::Address& at, const std::string& target, const FollowedPage& user) {
  base::Result<AdminReply> reply = replyOf(at, http::Method::kGet, target, {}, &user);
  if (!reply) return reply.error();
  // A user who ends it before the gateway has answered gets no reply.
  if (reply->status != 200 && reply->status != 0) return refusalOf(*reply);
  return base::Done{};
}

base::Result<content::Value> readAdminPage(std::string_view page) {
  base::Result<content::Value> value = content::parseJson(page, {.bytes = page.size()});
  if (!value) return base::Error::config("the gateway's answer is not understood: " + value.error().detail);
  return value;
}

base::Result<content::Value> askAdminPage(const net::Address& at, const std::string& target) {
  const base::Result<std::string> page = askAdmin(at, http::Method::kGet, target);
  if (!page) return page.error();
  return readAdminPage(*page);
}

}  // namespace sluice::server
