#include "proxy/server/admin/admin_connection.h"

#include <algorithm>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/http/authority.h"

namespace sluice::server {
namespace {

// The time after it connected in which a client is expected to send a request.
constexpr base::Duration kYoung = std::chrono::seconds(1);

// Returns true for addresses and "localhost": a web page whose name is made to resolve to this address would send its
// own name.
bool isOurs(std::string_view authority) {
  const std::string_view host = http::hostOf(authority);
  return host.empty() || host == "localhost" || net::Address::parse(host, 0).has_value();
}

AdminDocument plainText(std::uint16_t status, std::string text) {
  return {status, "text/plain; charset=utf-8", std::move(text)};
}

// Browsers name the type, and clients that want the list do not.
bool acceptsMarkup(const http::RequestHead& head) {
  const http::Field* accept = head.headers.find("accept");
  return accept != nullptr && base::toLower(accept->value).find("text/html") != std::string::npos;
}

// Restricts browsers: a page loads and runs only files of this port, makes no markup of text, stands in no frame, and
// names itself to no other server.
void addBrowserRules(base::Arena& arena, http::Headers& fields) {
  fields.add(arena, "content-security-policy",
             "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; "
             "require-trusted-types-for 'script'");
  fields.add(arena, "referrer-policy", "no-referrer");
  fields.add(arena, "x-content-type-options", "nosniff");
}

std::string listOf(const AdminPort& port) {
  std::string list;
  for (const auto& [path, page] : port.pages) list.append("GET ").append(path).append("\n");
  for (const auto& [path, action] : port.actions) {
    list.append(http::methodLabel(action.method)).append(" ").append(path).append("\n");
  }
  return list;
}

}  // namespace

AdminConnection::AdminConnection(base::Handle<AdminConnection> self, AdminTable& table, AdminPort& port,
                                 const ConnectionParts& parts, int fd, const net::Address& peer)
    : ServerConnection(parts, fd, peer, nullptr),
      self_(self),
      table_(table),
      port_(port),
      accepted_(parts.worker.now()),
      lastMove_(table.nextMove()) {
  ++port_.clients;
  markDirty();
}

AdminConnection::~AdminConnection() { --port_.clients; }

AdminConnection::Claim AdminConnection::claim() {
  const bool young = !served_ && worker().now() - accepted_ < kYoung;
  return {young, lastMove_};
}

std::size_t AdminConnection::heldText() const {
  std::size_t held = 0;
  for (const auto& [stream, request] : requests_) {
    if (request.document) held += request.document->body.held();
    held += request.post.body.size();
  }
  return held;
}

void AdminConnection::answer(http::StreamId stream, AdminDocument&& document) {
  const auto found = requests_.find(stream);
  if (found == requests_.end()) return;
  found->second.document = std::move(document);
  ready_.push_back(stream);
  markDirty();
}

void AdminConnection::wake(http::StreamId stream) {
  const auto found = requests_.find(stream);
  // The head was not sent yet, or the client is reading and gets the rest behind that.
  if (found == requests_.end() || !found->second.rests) return;
  ready_.push_back(stream);
  markDirty();
}

void AdminConnection::sendAnswers() {
  resume();
  for (const auto& [stream, count] : std::exchange(granted_, {})) codecOrNull()->grant(stream, count);
  for (const http::StreamId stream : std::exchange(ready_, {})) {
    const auto found = requests_.find(stream);
    if (found == requests_.end()) continue;
    if (!found->second.body) sendHead(stream, found->second);
    fill(stream, found->second);
  }
}

void AdminConnection::sendHead(http::StreamId stream, AdminRequest& request) {
  const AdminDocument& document = *request.document;
  const std::optional<std::size_t> length = document.body.length();
  request.body.emplace(worker().chunks());
  base::Arena arena(worker().chunks());
  http::ResponseHead head;
  head.status = document.status;
  head.headers.add(arena, http::FieldId::kContentType, document.contentType);
  head.headers.add(arena, "cache-control", "no-store");
  addBrowserRules(arena, head.headers);
  if (document.status == 405) head.headers.add(arena, "allow", arena.copy(request.allowed));  // RFC 9110 section 15.5.6
  head.contentLength = length;
  if (request.withBody) {
    head.body = length ? http::Body::kLength : http::Body::kUntilEnd;
  } else {
    request.body->finish();
  }
  codecOrNull()->sendResponse(stream, head);
}

void AdminConnection::fill(http::StreamId stream, AdminRequest& request) {
  if (request.body->end() != http::PipeEnd::kOpen || request.body->bytes.size() >= kPieceBytes) return;
  const AdminBody::BodyRest rest = request.document->body.read(request.body->bytes, kPieceBytes);
  if (rest == AdminBody::BodyRest::kNone) request.body->finish();
  const bool rests = rest == AdminBody::BodyRest::kLater && request.body->bytes.empty();
  if (std::exchange(request.rests, rests) && !rests) request.asked = worker().now();
  codecOrNull()->wake(stream);
}

// One timer serves all requests of the connection: when it fires, it looks for the oldest.
void AdminConnection::watchAnswers() {
  if (requests_.empty() || dead()) return;
  base::MonotonicTime oldest = worker().now();
  for (const auto& [stream, request] : requests_) {
    if (!request.rests) oldest = std::min(oldest, request.asked);
  }
  const base::MonotonicTime due = oldest + table_.answerBound();
  if (due > worker().now()) return worker().timers().set(answerTimer_, due);
  table_.onLimit("adminAnswer");
  cutOff();
}

void AdminConnection::begin(http::StreamId stream, bool withBody) {
  headArrived();
  moved();
  requests_.emplace(stream, AdminRequest{withBody, worker().now()});
  if (!answerTimer_.isSet()) worker().timers().set(answerTimer_, worker().now() + table_.answerBound());
}

void AdminConnection::ask(http::StreamId stream, const http::RequestHead& head) {
  if (!port_.anyHost && !isOurs(head.authority)) {
    return answer(stream, plainText(403, "ask by address or as localhost: this Host is not served here\n"));
  }
  const auto page = port_.pages.find(head.path());
  const auto action = port_.actions.find(head.path());
  const bool acts =
      action != port_.actions.end() && (page == port_.pages.end() || head.method == action->second.method);
  if (acts) return askForAction(stream, head, action->second);
  if (head.method != http::Method::kGet && head.method != http::Method::kHead) {
    std::string& allowed = requests_.at(stream).allowed;
    if (action != port_.actions.end()) allowed.append(", ").append(http::methodLabel(action->second.method));
    return answer(stream, plainText(405, "only " + allowed + "\n"));
  }
  const bool asksForList = head.path() == "/" && (page == port_.pages.end() || !acceptsMarkup(head));
  if (asksForList) return answer(stream, plainText(200, listOf(port_)));
  if (page == port_.pages.end()) return answer(stream, plainText(404, "no such page; there are:\n" + listOf(port_)));
  page->second.ask(AdminAnswer(table_, self_.toToken(), stream), head.query());
}

void AdminConnection::askForAction(http::StreamId stream, const http::RequestHead& head, const AdminAction& action) {
  AdminRequest& request = requests_.at(stream);
  if (head.method != action.method) {
    request.allowed = http::methodLabel(action.method);
    return answer(stream, plainText(405, "only " + request.allowed + "\n"));
  }
  // Browsers send this field with every method but GET and HEAD, and programs do not.
  if (head.headers.find("origin") != nullptr) return answer(stream, plainText(403, "not for web pages\n"));
  request.action = &action;
  request.post.query = head.query();
  if (head.body == http::Body::kNone) act(stream);
}

void AdminConnection::act(http::StreamId stream) {
  const auto found = requests_.find(stream);
  if (found == requests_.end() || found->second.action == nullptr) return;
  const AdminAction& action = *std::exchange(found->second.action, nullptr);
  action.run(std::move(found->second.post), AdminAnswer(table_, self_.toToken(), stream));
}

http::Token AdminConnection::onRequest(http::StreamId stream, http::RequestMessage&& message) {
  begin(stream, message.head.method != http::Method::kHead);
  ask(stream, message.head);
  return stream;
}

void AdminConnection::onRequestBody(http::Token token, std::string_view bytes) {
  const auto stream = static_cast<http::StreamId>(token);
  const auto found = requests_.find(stream);
  if (found == requests_.end() || found->second.action == nullptr) return;
  std::string& body = found->second.post.body;
  if (body.size() + bytes.size() > kMostPosted) {
    found->second.action = nullptr;
    body = {};
    return answer(stream, plainText(413, "the body is longer than 8 MiB\n"));
  }
  body += bytes;
  moved();
  table_.onTextTaken();
  granted_.emplace_back(stream, bytes.size());
  markDirty();
}

http::Token AdminConnection::onBadRequest(http::StreamId stream, const base::Error& error) {
  begin(stream, true);
  answer(stream, plainText(error.status, error.detail + "\n"));
  return stream;
}

void AdminConnection::onRequestReset(http::Token token, const base::Error& error, bool answerable) {
  requestEnded();
  const auto found = requests_.find(static_cast<http::StreamId>(token));
  if (answerable && found != requests_.end() && std::exchange(found->second.action, nullptr) != nullptr) {
    found->second.post.body = {};
    answer(static_cast<http::StreamId>(token), plainText(error.status, error.detail + "\n"));
  }
  if (!answerable) requests_.erase(static_cast<http::StreamId>(token));
}

http::BodyPipe* AdminConnection::responseBody(http::Token token) {
  const auto found = requests_.find(static_cast<http::StreamId>(token));
  return found != requests_.end() && found->second.body ? &*found->second.body : nullptr;
}

void AdminConnection::onResponseBodyTaken(http::Token token, std::size_t /*count*/) {
  moved();
  const auto stream = static_cast<http::StreamId>(token);
  const http::BodyPipe* body = responseBody(token);
  if (body == nullptr || body->end() != http::PipeEnd::kOpen) return;
  ready_.push_back(stream);
  table_.markLater(*this);
}

void AdminConnection::onResponseSent(http::Token token) {
  requestEnded();
  served_ = true;
  moved();
  requests_.erase(static_cast<http::StreamId>(token));
  table_.markLater(*this);
}

}  // namespace sluice::server
