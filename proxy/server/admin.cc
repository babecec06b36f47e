#include "proxy/server/admin.h"

#include <optional>
#include <utility>

#include "proxy/http/hygiene.h"

namespace sluice::server {
namespace {

// Probes and people: more connections than these at once are no use of an admin port.
constexpr std::size_t kMaxConnections = 64;

// A web page whose name is made to resolve to this address would send its own name: only addresses and "localhost" are
// ours.
bool isOurs(std::string_view authority) {
  const std::string_view host = http::hostOf(authority);
  return host.empty() || host == "localhost" || net::Address::parse(host, 0).has_value();
}

}  // namespace

/// One client of an admin port: answers each request as soon as its head is there.
class AdminConnection final : public ServerConnection {
 public:
  AdminConnection(base::Handle<AdminConnection> self, AdminServer& owner, const ConnectionParts& parts,
                  const AdminPages& pages, int fd, const net::Address& peer)
      : ServerConnection(parts, fd, peer, nullptr), self_(self), owner_(owner), pages_(pages) {
    markDirty();
  }

  base::Handle<AdminConnection> handle() const { return self_; }
  bool dirty = false;

  /// The drive beat: answers what was asked, since sinks may not call their codec back.
  void answer() {
    resume();
    std::vector<Pending> asked = std::move(asked_);
    asked_.clear();
    for (Pending& pending : asked) {
      auto& pipe = pipes_.try_emplace(pending.stream, worker().chunks()).first->second;
      pipe.bytes.append(pending.document.body);
      pipe.finish();
      base::Arena arena(worker().chunks());
      http::ResponseHead head;
      head.status = pending.document.status;
      head.headers.add(arena, http::FieldId::kContentType, pending.document.contentType);
      head.headers.add(arena, "cache-control", "no-store");
      head.contentLength = pending.document.body.size();
      head.body = pending.withBody ? http::Body::kLength : http::Body::kNone;
      codecOrNull()->sendResponse(pending.stream, head);
    }
  }

 private:
  struct Pending {
    http::StreamId stream;
    AdminDocument document;
    bool withBody;
  };

  void markDirty() override { owner_.markDirty(*this); }
  void onTimeout(std::string_view) override {}

  AdminDocument documentFor(const http::RequestHead& head) const {
    if (head.method != http::Method::kGet && head.method != http::Method::kHead) {
      return {405, "text/plain; charset=utf-8", "only GET and HEAD\n"};
    }
    if (!isOurs(head.authority)) {
      return {403, "text/plain; charset=utf-8", "ask by address or as localhost: this Host is not served here\n"};
    }
    const auto page = pages_.find(head.path());
    if (page != pages_.end()) return page->second();
    std::string list = "no such page; there are:\n";
    for (const auto& [path, make] : pages_) list += path + "\n";
    return {404, "text/plain; charset=utf-8", std::move(list)};
  }

  http::Token onRequest(http::StreamId stream, http::RequestMessage&& message) override {
    headArrived();
    asked_.push_back({stream, documentFor(message.head), message.head.method != http::Method::kHead});
    markDirty();
    return stream;
  }
  http::Token onBadRequest(http::StreamId stream, const base::Error& error) override {
    headArrived();
    asked_.push_back({stream, {error.status, "text/plain; charset=utf-8", error.detail + "\n"}, true});
    markDirty();
    return stream;
  }
  void onRequestBody(http::Token, std::string_view) override {}
  void onRequestEnd(http::Token) override {}
  void onRequestEnd(http::Token, http::Trailers&&) override {}
  void onRequestReset(http::Token token, const base::Error&, bool) override {
    const auto stream = static_cast<http::StreamId>(token);
    std::erase_if(asked_, [stream](const Pending& pending) { return pending.stream == stream; });
    pipes_.erase(stream);
  }
  http::BodyPipe* responseBody(http::Token token) override {
    const auto found = pipes_.find(static_cast<http::StreamId>(token));
    return found != pipes_.end() ? &found->second : nullptr;
  }
  void onResponseBodyTaken(http::Token, std::size_t) override {}
  void onResponseSent(http::Token token) override {
    pipes_.erase(static_cast<http::StreamId>(token));
    markDirty();
  }
  void onLimitHit(http::Limit) override {}

  const base::Handle<AdminConnection> self_;
  AdminServer& owner_;
  const AdminPages& pages_;
  std::vector<Pending> asked_;
  std::map<http::StreamId, http::BodyPipe> pipes_;
};

AdminServer::AdminServer(net::Worker& worker) : worker_(worker) { worker_.setBeats(this); }

AdminServer::~AdminServer() = default;

void AdminServer::serve(const net::ListenSocket& socket, const AdminPages& pages) {
  listeners_.push_back(
      std::make_unique<net::Listener>(worker_, socket, [this, &pages](int fd, const net::Address& peer) {
        const ConnectionParts parts{worker_, limits_, timeouts_};
        AdminConnection& connection = connections_.create(*this, parts, pages, fd, peer);
        if (connections_.size() > kMaxConnections) connection.drain();
      }));
}

void AdminServer::markDirty(AdminConnection& connection) {
  if (!std::exchange(connection.dirty, true)) dirty_.push_back(connection.handle());
}

void AdminServer::drive() {
  for (const auto handle : dirty_) {
    if (AdminConnection* connection = connections_.find(handle)) connection->answer();
  }
}

void AdminServer::flush() {
  batch_.swap(dirty_);
  for (const auto handle : batch_) {
    AdminConnection* connection = connections_.find(handle);
    if (connection == nullptr) continue;
    connection->dirty = false;
    connection->flush();
    if (connection->dead()) dead_.push_back(handle);
  }
  batch_.clear();
}

void AdminServer::reap() {
  for (const auto handle : dead_) {
    if (connections_.find(handle) != nullptr) connections_.destroy(handle);
  }
  dead_.clear();
}

void AdminServer::shutdown() {
  listeners_.clear();
  connections_.forEach([this](AdminConnection& connection) { dead_.push_back(connection.handle()); });
  reap();
  dirty_.clear();
}

}  // namespace sluice::server
