#include "proxy/server/commands/admin_client.h"

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

/// Keeps the response to the one request.
class ReplySink final : public http::ClientSink {
 public:
  ReplySink(base::ChunkPool& pool, std::string_view body) : request_(pool) {
    request_.bytes.append(body);
    request_.finish();
  }

  bool over() const { return over_; }
  const std::optional<base::Error>& failure() const { return failure_; }
  AdminReply take() { return std::move(reply_); }

  void onInterim(http::Token, http::ResponseMessage&&) override {}
  void onResponse(http::Token, http::ResponseMessage&& message) override {
    reply_.status = message.head.status;
    over_ = message.head.body == http::Body::kNone;
  }
  void onResponseBody(http::Token, std::string_view bytes) override { reply_.body += bytes; }
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
  AdminReply reply_;
  std::optional<base::Error> failure_;
  bool over_ = false;
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

base::Result<AdminReply> replyOf(const net::Address& at, http::Method method, const std::string& target,
                                 std::string_view body) {
  const AdminSocket socket(at);
  if (!socket.connected()) return unanswered(at, std::strerror(errno));
  base::ChunkPool pool;
  base::Arena arena(pool);
  ReplySink sink(pool, body);
  const std::unique_ptr<http::ClientCodec> codec = http::makeH1ClientCodec(sink, pool, http::Limits());
  const http::StreamId stream = codec->sendRequest(1, headOf(arena, method, at, target, body), http::Scheme::kHttp);
  base::ByteQueue out(pool);
  while (codec->wantsProduce()) codec->produce(out, kPiece);
  // The gateway may answer before it has read all of a body that it refuses.
  while (!out.empty() && socket.send(out.front())) out.consume(out.front().size());
  while (!sink.over()) {
    const std::optional<std::string> piece = socket.receive();
    if (!piece) return unanswered(at, errno == EAGAIN ? "nothing came for 30 seconds" : std::strerror(errno));
    if (piece->empty()) {
      codec->feedEnd(true);
      break;
    }
    codec->feed(*piece);
    codec->grant(stream, piece->size());
  }
  if (sink.failure()) return unanswered(at, sink.failure()->detail);
  return sink.take();
}

}  // namespace

base::Result<std::string> askAdmin(const net::Address& at, http::Method method, const std::string& target,
                                   std::string_view body) {
  base::Result<AdminReply> reply = replyOf(at, method, target, body);
  if (!reply) return reply.error();
  std::string answer = std::move(reply->body);
  if (reply->status == 200) return answer;
  if (answer.ends_with('\n')) answer.pop_back();
  base::Error error = base::Error::config(std::move(answer));
  error.status = reply->status;
  return error;
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
