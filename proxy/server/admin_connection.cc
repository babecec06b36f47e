#include "proxy/server/admin_connection.h"

#include <utility>

#include "proxy/http/authority.h"

namespace sluice::server {
namespace {

// A web page whose name is made to resolve to this address would send its own name: only addresses and "localhost" are
// ours.
bool isOurs(std::string_view authority) {
  const std::string_view host = http::hostOf(authority);
  return host.empty() || host == "localhost" || net::Address::parse(host, 0).has_value();
}

AdminDocument plainText(std::uint16_t status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

AdminDocument listOf(const AdminPages& pages) {
  std::string list = "no such page; there are:\n";
  for (const auto& [path, page] : pages) list += path + "\n";
  return plainText(404, std::move(list));
}

}  // namespace

AdminConnection::AdminConnection(base::Handle<AdminConnection> self, AdminServer& server, AdminPort& port,
                                 const ConnectionParts& parts, int fd, const net::Address& peer)
    : ServerConnection(parts, fd, peer, nullptr), self_(self), server_(server), port_(port) {
  ++port_.clients;
  markDirty();
}

AdminConnection::~AdminConnection() { --port_.clients; }

void AdminConnection::answer(http::StreamId stream, AdminDocument&& document) {
  const auto found = requests_.find(stream);
  if (found == requests_.end()) return;
  found->second.document = std::move(document);
  answered_.push_back(stream);
  markDirty();
}

void AdminConnection::sendAnswers() {
  resume();
  for (const http::StreamId stream : std::exchange(answered_, {})) {
    const auto found = requests_.find(stream);
    if (found != requests_.end()) send(stream, found->second);
  }
}

void AdminConnection::send(http::StreamId stream, Request& request) {
  const AdminDocument document = *std::exchange(request.document, std::nullopt);
  request.body.emplace(worker().chunks());
  request.body->bytes.append(document.body);
  request.body->finish();
  base::Arena arena(worker().chunks());
  http::ResponseHead head;
  head.status = document.status;
  head.headers.add(arena, http::FieldId::kContentType, document.contentType);
  head.headers.add(arena, "cache-control", "no-store");
  if (document.status == 405) head.headers.add(arena, "allow", "GET, HEAD");  // RFC 9110 section 15.5.6
  head.contentLength = document.body.size();
  head.body = request.withBody ? http::Body::kLength : http::Body::kNone;
  codecOrNull()->sendResponse(stream, head);
}

void AdminConnection::ask(http::StreamId stream, const http::RequestHead& head) {
  if (head.method != http::Method::kGet && head.method != http::Method::kHead) {
    return answer(stream, plainText(405, "only GET and HEAD\n"));
  }
  if (!isOurs(head.authority)) {
    return answer(stream, plainText(403, "ask by address or as localhost: this Host is not served here\n"));
  }
  const auto page = port_.pages.find(head.path());
  if (page == port_.pages.end()) return answer(stream, listOf(port_.pages));
  page->second.ask(AdminAnswer(server_, self_.toToken(), stream));
}

http::Token AdminConnection::onRequest(http::StreamId stream, http::RequestMessage&& message) {
  headArrived();
  requests_.emplace(stream, Request{message.head.method != http::Method::kHead});
  ask(stream, message.head);
  return stream;
}

http::Token AdminConnection::onBadRequest(http::StreamId stream, const base::Error& error) {
  headArrived();
  requests_.emplace(stream, Request{true});
  answer(stream, plainText(error.status, error.detail + "\n"));
  return stream;
}

void AdminConnection::onRequestReset(http::Token token, const base::Error&, bool answerable) {
  if (!answerable) requests_.erase(static_cast<http::StreamId>(token));
}

http::BodyPipe* AdminConnection::responseBody(http::Token token) {
  const auto found = requests_.find(static_cast<http::StreamId>(token));
  return found != requests_.end() && found->second.body ? &*found->second.body : nullptr;
}

void AdminConnection::onResponseSent(http::Token token) {
  requests_.erase(static_cast<http::StreamId>(token));
  markDirty();
}

}  // namespace sluice::server
