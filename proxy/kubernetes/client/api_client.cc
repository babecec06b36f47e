#include "proxy/kubernetes/client/api_client.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "proxy/routing/policy/address_guard.h"

namespace sluice::kubernetes {
namespace {

constexpr const char* kName = "kubernetes";  // of the API server in metrics
constexpr base::Duration kReadAgainAfter = std::chrono::minutes(1);
constexpr base::Duration kSoonest = std::chrono::seconds(1);
constexpr std::uint64_t kMostConnections = 4096;  // over HTTP/1.1 each watch has one of its own
constexpr std::uint64_t kMostRequests = 16384;
constexpr std::uint16_t kUnauthorized = 401;
constexpr int kMostRetryAfter = 600;  // seconds

/// The API server may have any address, because it is named by the person who deploys the gateway.
routing::AddressGuard anyAddress() { return std::move(routing::AddressGuard::make({"0.0.0.0/0", "::/0"})).value(); }

upstream::UpstreamPolicy apiPolicy() {
  return {anyAddress(), http::Limits(), base::TimeoutSettings(), kMostRequests, 0};
}

std::string bracketed(const std::string& host) { return host.find(':') == std::string::npos ? host : "[" + host + "]"; }

/// `generation` is the number of times that all connections have been given up.
std::shared_ptr<const routing::BackendPlan> planTo(const ApiAccess& access, unsigned generation) {
  auto plan = std::make_shared<routing::BackendPlan>();
  plan->name = plan->object = kName;
  plan->hostname = access.host;
  plan->port = access.port;
  plan->authority = bracketed(access.host) + ":" + std::to_string(access.port);
  if (access.tls) {
    routing::UpstreamTls& tls = plan->tls.emplace();
    tls.serverName = access.serverName;
    tls.trust = access.trust;
    tls.insecureSkipVerify = access.insecureSkipVerify;
    tls.clientCertificate = access.clientCertificate;
    tls.clientKey = access.clientKey;
  }
  plan->identity = plan->authority + "|" + access.fingerprint + "|" + std::to_string(generation);
  return plan;
}

/// Only the form in seconds is read, which is the one that API servers send.
base::Duration retryAfterOf(const http::ResponseHead& head) {
  const http::Field* field = head.headers.find("retry-after");
  int seconds = 0;
  if (field != nullptr) std::from_chars(field->value.data(), field->value.data() + field->value.size(), seconds);
  return std::chrono::seconds(std::clamp(seconds, 0, kMostRetryAfter));
}

bool mayBeOldAccess(const base::Error& error) {
  return error.type == base::ErrorType::kTlsCertificateError || error.type == base::ErrorType::kTlsProtocolError;
}

}  // namespace

// --- one call --------------------------------------------------------------------------------------------------------

ApiCall::ApiCall(ApiClient& client, const ApiRequest& request, ApiCallUser& user)
    : client_(client),
      user_(user),
      plan_(client.plan_),
      message_(client.worker().chunks()),
      request_(client.upstreams_, *this, {request.idle, {}, {}}) {
  start(request);
}

ApiCall::~ApiCall() {
  if (due_) client_.forget(this);
}

void ApiCall::start(const ApiRequest& request) {
  const ApiAccess& access = client_.access();
  base::Arena& arena = message_.arena;
  http::RequestHead& head = message_.head;
  head.method = request.method;
  head.methodText = http::methodLabel(request.method);
  head.scheme = access.tls ? http::Scheme::kHttps : http::Scheme::kHttp;
  head.authority = arena.copy(plan_->authority);
  head.target = arena.copy(access.pathPrefix + request.path);
  head.headers.add(arena, http::FieldId::kUserAgent, "sluice");
  head.headers.add(arena, "accept", arena.copy(request.accept));
  if (!access.token.empty()) {
    head.headers.add(arena, http::FieldId::kAuthorization, arena.copy("Bearer " + std::string(access.token.reveal())));
    head.headers.setCareOfLast(http::Care::kSecret);
  }
  if (!request.contentType.empty()) {
    head.headers.add(arena, http::FieldId::kContentType, arena.copy(request.contentType));
    head.body = http::Body::kLength;
    head.contentLength = request.body.size();
    request_.body().bytes.append(request.body);
    request_.body().finish();
  }
  if (request_.enter(plan_)) {
    request_.start(head);
  } else {
    onFailed(base::Error::upstream(base::ErrorType::kConnectionLimitReached, "too many requests to the API server"));
  }
}

void ApiCall::mark() {
  if (std::exchange(due_, true)) return;
  client_.due_.push_back(this);
}

void ApiCall::onResponse(http::ResponseMessage&& message) {
  if (message.head.status == kUnauthorized) client_.doubtsAccess_ = true;
  response_.emplace(std::move(message));
  mark();
}

void ApiCall::onResponseBody(std::string_view bytes) {
  received_ += bytes;
  mark();
}

void ApiCall::onResponseEnd(std::optional<http::Trailers> /*trailers*/) {
  ended_ = true;
  mark();
}

void ApiCall::onFailed(const base::Error& error) {
  if (mayBeOldAccess(error)) client_.doubtsAccess_ = true;
  if (error.type == base::ErrorType::kHttpResponseTimeout && plan_ == client_.plan_) client_.doubtsConnections_ = true;
  error_ = error;
  mark();
}

// One event at a time, because its user may destroy this.
void ApiCall::deliver() {
  due_ = false;
  if (response_) {
    const http::ResponseHead& head = response_->head;
    const int status = head.status;
    const base::Duration retryAfter = retryAfterOf(head);
    response_.reset();
    mark();
    return user_.onApiResponse(status, retryAfter);
  }
  if (!received_.empty()) {
    const std::string bytes = std::exchange(received_, {});
    request_.grant(bytes.size());
    mark();
    return user_.onApiBody(bytes);
  }
  if (error_) return user_.onApiFailed(base::Error(*error_));
  if (ended_) return user_.onApiEnd();
}

// --- the client ------------------------------------------------------------------------------------------------------

ApiClient::ApiClient(const ApiClientParts& parts)
    : parts_(parts),
      random_(parts.randomSeed),
      breakers_(kMostConnections, kMostRequests),
      upstreams_({parts_.worker, parts_.resolver, parts_.dialer, breakers_, failedAddresses_, parts_.metrics, h2Memory_,
                  apiPolicy(), random_.next() | 1}) {}

ApiClient::~ApiClient() { cancel(); }

base::Status ApiClient::open() {
  base::Result<ApiAccess> read = parts_.readAccess();
  if (!read.ok()) return read.error();
  adopt(std::move(read).value());
  refreshed_ = parts_.worker.now();
  parts_.worker.timers().set(*this, refreshed_ + kReadAgainAfter);
  return base::Done{};
}

std::string ApiClient::url() const {
  return std::string(access_->tls ? "https://" : "http://") + plan_->authority + access_->pathPrefix;
}

void ApiClient::adopt(ApiAccess&& access) {
  const bool same = access_ && access_->fingerprint == access.fingerprint && access_->host == access.host &&
                    access_->port == access.port;
  access_ = std::move(access);
  if (!same) makePlan();
}

void ApiClient::makePlan() {
  plan_ = planTo(*access_, generation_);
  upstreams_.adopt(apiPolicy(), {plan_});
}

void ApiClient::refresh() {
  const base::MonotonicTime now = parts_.worker.now();
  if (now < refreshed_ + kSoonest) return;
  refreshed_ = now;
  base::Result<ApiAccess> read = parts_.readAccess();
  std::string fault = read.ok() ? "" : read.error().detail;
  if (fault != lastFault_ && !fault.empty()) {
    parts_.log.warn("the kubeconfig or service account cannot be read again; the earlier one stays in use",
                    {{"reason", fault}});
  }
  lastFault_ = std::move(fault);
  if (read.ok()) adopt(std::move(read).value());
}

void ApiClient::onTimer() {
  refresh();
  parts_.worker.timers().set(*this, parts_.worker.now() + kReadAgainAfter);
}

void ApiClient::drive() {
  upstreams_.drive();
  for (std::size_t i = 0; i < due_.size(); ++i) {
    if (ApiCall* call = std::exchange(due_[i], nullptr); call != nullptr) call->deliver();
  }
  due_.clear();
  ends_.call();
}

// Clusters come and go between beats alone.
void ApiClient::reap() {
  upstreams_.reap();
  if (std::exchange(doubtsAccess_, false)) refresh();
  if (std::exchange(doubtsConnections_, false)) {
    ++generation_;
    makePlan();
  }
}

void ApiClient::forget(ApiCall* call) { std::replace(due_.begin(), due_.end(), call, static_cast<ApiCall*>(nullptr)); }

void ApiClient::shutdown() {
  cancel();
  upstreams_.shutdown();
}

}  // namespace sluice::kubernetes
