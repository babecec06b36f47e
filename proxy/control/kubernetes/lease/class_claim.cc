#include "proxy/control/kubernetes/lease/class_claim.h"

#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/content/json.h"
#include "proxy/control/kubernetes/client/api_forms.h"
#include "proxy/processing/query_edit.h"

namespace sluice::control {
namespace {

constexpr int kMayNotClaim = 403;
constexpr int kClaimedMeanwhile = 409;

/// Returns the path of a list of nothing but that object. The rights of a controller are to list, not to get.
std::string listOfOne(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash) + "?fieldSelector=" + processing::encodeQuery("metadata.name=" + path.substr(slash + 1));
}

const content::Value* firstItem(const ApiAnswer& answer) {
  const content::Value* items = valueIn(&answer.body, "items");
  return items == nullptr || items->items.empty() ? nullptr : &items->items.front();
}

/// Returns the namespace of a claim; empty if it is none.
std::string namespaceOfClaim(std::string_view claim) {
  const base::Result<content::Value> parsed = content::parseJson(claim);
  return parsed.ok() ? std::string(textIn(&*parsed, "namespace")) : std::string();
}

}  // namespace

ClassClaim::ClassClaim(ApiClient& client, Candidacy candidacy, std::function<void(bool leads)> changed)
    : client_(client),
      candidacy_(std::move(candidacy)),
      annotation_(std::string(kClaimDomain) + "/" + candidacy_.lease),
      changed_(std::move(changed)),
      random_(client.random() | 1) {}

void ClassClaim::hold(bool holds) {
  if (std::exchange(holds_, holds) == holds) return;
  begin();
}

void ClassClaim::want(const std::string& gatewayClass) {
  if (std::exchange(classIsKnown_, true) && class_ == gatewayClass) return;
  class_ = gatewayClass;
  begin();
}

void ClassClaim::begin() {
  claimed_ = false;
  exchange_.reset();
  cancel();
  tell();
  if (holds_ && classIsKnown_ && !class_.empty()) read();
}

void ClassClaim::read() {
  ApiRequest request;
  request.path = listOfOne(class_);
  ask(std::move(request), &ClassClaim::takeClass);
}

void ClassClaim::ask(ApiRequest request, void (ClassClaim::*take)(const ApiAnswer& answer)) {
  request.idle = LeaderElection::kRequestTimeout;
  client_.worker().timers().set(*this, client_.worker().now() + LeaderElection::kRequestTimeout);
  exchange_ = std::make_unique<ApiExchange>(client_, request, [this, take](base::Result<ApiAnswer>&& answer) {
    const std::unique_ptr<ApiExchange> exchange = std::move(exchange_);
    const double part = static_cast<double>(random_.next() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
    const auto pause =
        std::chrono::duration_cast<base::Duration>(LeaderElection::kRetryPeriod * (1 + LeaderElection::kJitter * part));
    client_.worker().timers().set(*this, client_.worker().now() + pause);
    if (!answer.ok()) return tellFault(answer.error().detail);
    (this->*take)(*answer);
  });
}

void ClassClaim::onTimer() {
  if (exchange_ != nullptr) tellFault("no answer in time");
  exchange_.reset();
  read();
}

void ClassClaim::takeClass(const ApiAnswer& answer) {
  if (!answer.ok()) return tellFault(answer.fault());
  const content::Value* found = firstItem(answer);
  if (found == nullptr) return;  // it was deleted, which is known soon
  const content::Value* metadata = valueIn(found, "metadata");
  classVersion_ = textIn(metadata, "resourceVersion");
  const std::string_view claim = textIn(valueIn(metadata, "annotations"), annotation_);
  if (claimed_ && claim == claim_) return;
  claimed_ = false;
  tell();
  const std::string nameSpace = namespaceOfClaim(claim);
  if (nameSpace.empty() || nameSpace == candidacy_.nameSpace) return write();
  if (std::exchange(other_, nameSpace) != nameSpace) seen_ = {};
  ApiRequest request;
  request.path = listOfOne(leasePath(nameSpace, candidacy_.lease));
  ask(std::move(request), &ClassClaim::takeLease);
}

void ClassClaim::takeLease(const ApiAnswer& answer) {
  if (!answer.ok()) return tellFault(answer.fault());
  const content::Value* found = firstItem(answer);
  if (found == nullptr) return write();
  LeaseRecord record = readLeaseRecord(*found);
  if (record.holderIdentity.empty()) return write();
  const base::MonotonicTime now = client_.worker().now();
  if (record != seen_) {
    seen_ = std::move(record);
    changedAt_ = now;
  }
  if (now - changedAt_ >= leaseDuration(seen_, LeaderElection::kLeaseDuration)) return write();
  told_.clear();
  const std::string holder = other_ + "/" + seen_.holderIdentity;
  if (std::exchange(standsByFor_, holder) == holder) return;
  client_.log().warn(
      "another controller of the GatewayClass leads, so this one stands by",
      {{"gatewayClass", class_}, {"lease", other_ + "/" + candidacy_.lease}, {"identity", seen_.holderIdentity}});
}

void ClassClaim::write() {
  // Each claim is another text, so that it changes the object.
  base::JsonWriter value;
  value.beginObject().member("namespace", candidacy_.nameSpace).member("identity", candidacy_.identity);
  value.member("since", apiMicroTime(client_.worker().clock().wallNow())).endObject();
  base::JsonWriter json;
  json.beginObject().key("metadata").beginObject().member("resourceVersion", classVersion_);
  claim_ = value.take();
  json.key("annotations").beginObject().member(annotation_, claim_).endObject().endObject().endObject();
  ApiRequest request;
  request.method = http::Method::kPatch;
  request.path = class_ + "?fieldManager=sluice-leader";
  request.body = json.take();
  request.contentType = "application/merge-patch+json";
  ask(std::move(request), &ClassClaim::takeWritten);
}

void ClassClaim::takeWritten(const ApiAnswer& answer) {
  if (answer.status == kClaimedMeanwhile) return;
  if (!answer.ok()) tellFault(answer.fault());
  if (!answer.ok() && answer.status != kMayNotClaim) return;
  claimed_ = true;
  standsByFor_.clear();
  if (answer.ok()) {
    told_.clear();
  } else {
    cancel();  // there is no claim to look for
  }
  tell();
}

/// Says once what keeps this process from claiming the class.
void ClassClaim::tellFault(const std::string& reason) {
  if (std::exchange(told_, reason) == reason) return;
  client_.log().warn("controllers of other namespaces cannot be told who leads",
                     {{"gatewayClass", class_}, {"reason", reason}});
}

void ClassClaim::tell() {
  const bool leads = holds_ && classIsKnown_ && (class_.empty() || claimed_);
  if (std::exchange(leads_, leads) != leads) changed_(leads);
}

}  // namespace sluice::control
