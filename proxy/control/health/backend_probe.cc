#include "proxy/control/health/backend_probe.h"

#include <algorithm>
#include <utility>

#include "proxy/control/health/health.pb.h"
#include "proxy/http/grpc.h"

namespace sluice::control {
namespace {

using routing::HealthCheckKind;

constexpr std::string_view kGrpcPath = "/grpc.health.v1.Health/Check";
constexpr std::size_t kMostMessage = 1024;

upstream::AsyncRequestTimes timesOf(base::Duration timeout) { return {timeout, timeout, {}}; }

}  // namespace

BackendProbe::BackendProbe(const ProbeParts& parts, std::shared_ptr<const routing::BackendPlan> backend,
                           const routing::HealthCheckSettings& settings)
    : parts_(parts),
      backend_(std::move(backend)),
      settings_(settings),
      message_(parts.upstreams.worker().chunks()),
      body_(parts.upstreams.worker().chunks()),
      request_(parts.upstreams, *this, timesOf(settings.timeout)) {
  if (!request_.enter(backend_)) {
    ownLimit_ = true;
    end("too many requests to the Backend are under way");
  } else if (settings_.kind == HealthCheckKind::kTcp || parts_.dials.judgesAddresses()) {
    parts_.user.onProbeDue();
  } else {
    ask();
  }
}

BackendProbe::~BackendProbe() = default;

/// Returns false if the addresses are not known yet, or if there is none.
bool BackendProbe::findAddresses() {
  base::Result<net::Addresses> addresses = request_.resolve();
  if (!addresses.ok()) {
    onFailed(addresses.error());
    return false;
  }
  addresses_ = std::move(addresses).value();
  if (addresses_.empty()) return false;
  if (!parts_.dials.narrow(addresses_)) end(routing::egressDenied().detail);
  return !addresses_.empty();
}

void BackendProbe::drive() {
  if (fault_ || (transport_ != nullptr && !refusal_)) return;
  const bool isFirst = addresses_.empty();
  const bool isTcp = settings_.kind == HealthCheckKind::kTcp;
  if (!isTcp && !(isFirst && parts_.dials.judgesAddresses())) return;
  if (isFirst && !findAddresses()) return;
  if (!isTcp) return ask();
  if (tried_ == addresses_.size()) return end(*refusal_);
  refusal_.reset();
  transport_ = parts_.dialer.dial(addresses_[tried_++], nullptr, *this);
}

void BackendProbe::onFailed(const base::Error& error) {
  ownLimit_ = error.type == base::ErrorType::kConnectionLimitReached;
  if (transport_ == nullptr || request_.over() || ownLimit_) return end(error.detail);
  refusal_ = error.detail;
  parts_.user.onProbeDue();
}

void BackendProbe::ask() {
  base::Arena& arena = message_.arena;
  http::RequestHead& head = message_.head;
  const bool grpc = settings_.kind == HealthCheckKind::kGrpc;
  head.method = grpc ? http::Method::kPost : http::methodFrom(settings_.method);
  head.methodText = http::methodLabel(head.method);
  head.scheme = backend_->tls ? http::Scheme::kHttps : http::Scheme::kHttp;
  head.authority = arena.copy(settings_.hostname.empty() ? backend_->authority : settings_.hostname);
  head.target = grpc ? kGrpcPath : std::string_view(settings_.path);
  for (const auto& [name, value] : settings_.headers) {
    head.headers.add(arena, {name, value, http::fieldId(name), http::Care::kSecret});
  }
  if (head.headers.find(http::FieldId::kUserAgent) == nullptr) {
    head.headers.add(arena, http::FieldId::kUserAgent, "sluice");
  }
  if (grpc) {
    health::HealthCheckRequest request;
    request.set_service(settings_.service);
    const std::string body = http::frameGrpcMessage(request.SerializeAsString());
    head.headers.add(arena, http::FieldId::kContentType, "application/grpc");
    head.headers.add(arena, "te", "trailers");
    head.body = http::Body::kLength;
    head.contentLength = body.size();
    request_.body().bytes.append(body);
    request_.body().finish();
  }
  request_.start(head, addresses_.empty() ? nullptr : &addresses_);
}

void BackendProbe::end(std::string fault) {
  if (fault_) return;
  fault_ = std::move(fault);
  parts_.user.onProbeDue();
}

void BackendProbe::onResponseBody(std::string_view bytes) {
  received_ += bytes.size();
  if (received_ > kMostBody) {
    request_.fail(base::Error::upstream(base::ErrorType::kHttpProtocolError, "the answer is too long"));
    return;
  }
  request_.grant(bytes.size());
  if (settings_.kind == HealthCheckKind::kGrpc) {
    body_.append(bytes);
  } else if (!settings_.expected.empty()) {
    text_.append(bytes);
  }
}

void BackendProbe::onResponseEnd(std::optional<http::Trailers> trailers) {
  end(settings_.kind == HealthCheckKind::kGrpc ? faultOfGrpc(trailers) : faultOfHttp());
}

void BackendProbe::onOpen() {
  if (!settings_.send.empty()) {
    base::ByteQueue bytes(parts_.upstreams.worker().chunks());
    bytes.append(settings_.send);
    transport_->write(bytes);
  }
  if (settings_.expected.empty()) return end({});
  transport_->setReadBudget(kMostBody);
}

void BackendProbe::onBytes(std::string_view bytes) {
  // If a Backend sends byte by byte, the search must not begin at the first byte each time.
  const std::size_t searched = text_.size() - std::min(text_.size(), settings_.expected.size());
  text_.append(bytes);
  if (text_.find(settings_.expected, searched) != std::string::npos) return end({});
  if (text_.size() >= kMostBody) return end("the answer is too long");
  transport_->setReadBudget(kMostBody - text_.size());
}

std::string BackendProbe::faultOfHttp() const {
  const std::uint16_t status = response_->head.status;
  const std::vector<std::uint16_t>& expected = settings_.expectedStatuses;
  if (std::find(expected.begin(), expected.end(), status) == expected.end()) {
    return "it answered with status " + std::to_string(status);
  }
  return text_.find(settings_.expected) != std::string::npos ? "" : "its answer lacks what is expected";
}

std::string BackendProbe::faultOfGrpc(const std::optional<http::Trailers>& trailers) const {
  const http::GrpcStatus status = http::grpcStatusOf(response_->head, trailers ? &trailers->fields : nullptr);
  if (status.code != 0) return "it answered with gRPC status " + std::to_string(status.code);
  std::string message;
  health::HealthCheckResponse answer;
  const bool whole = http::readGrpcMessage(body_, kMostMessage, message) == http::GrpcFrame::kMessage;
  if (!whole || !answer.ParseFromString(message)) return "its answer is no HealthCheckResponse";
  return answer.status() == health::HealthCheckResponse::SERVING ? "" : "it answered that it does not serve";
}

}  // namespace sluice::control
