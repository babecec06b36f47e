#include "proxy/kubernetes/lease/class_claim.h"

#include <utility>

#include "proxy/base/json_writer.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/writer/write_requests.h"
#include "proxy/processing/query_edit.h"

namespace sluice::kubernetes {
namespace {

constexpr int kClaimedMeanwhile = 409;

/// Returns true if the server does not permit this process to write the claim, by its rules or by those of an admission
/// policy.
bool isClaimRefused(int status) {
  constexpr int kMalformed = 400;
  constexpr int kForbidden = 403;
  constexpr int kInvalid = 422;
  return status == kMalformed || status == kForbidden || status == kInvalid;
}

/// Returns the path of a list with only that object, because a controller has the right to list, but not to get.
std::string listOfOne(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return path.substr(0, slash) + "?fieldSelector=" + processing::encodeQuery("metadata.name=" + path.substr(slash + 1));
}

const content::Value* firstItem(const ApiAnswer& answer) {
  const content::Value* items = itemsOf(answer.body);
  return items == nullptr || items->items.empty() ? nullptr : &items->items.front();
}

/// Returns why a list cannot be read; empty if it can.
std::string faultOfList(const ApiAnswer& answer) {
  if (!answer.ok()) return answer.fault();
  return itemsOf(answer.body) == nullptr ? "the list cannot be read" : "";
}

/// Returns the namespace of a claim; empty if it is not a claim.
std::string namespaceOfClaim(std::string_view claim) {
  const base::Result<content::Value> parsed = content::parseJson(claim);
  return parsed.ok() ? std::string(textIn(&*parsed, "namespace")) : std::string();
}

}  // namespace

ClassClaim::ClassClaim(ApiClient& client, Candidacy candidacy, LeadershipUser& user)
    : client_(client),
      candidacy_(std::move(candidacy)),
      annotation_(std::string(kClaimDomain) + "/" + candidacy_.lease),
      user_(user),
      random_(client.random() | 1) {}

void ClassClaim::onLeads(bool holds) {
  if (std::exchange(holds_, holds) == holds) return;
  begin();
}

void ClassClaim::want(const std::string& gatewayClass) {
  if (std::exchange(classIsKnown_, true) && class_ == gatewayClass) return;
  class_ = gatewayClass;
  begin();
}

void ClassClaim::begin() {
  exchange_.reset();
  cancel();
  claim_.clear();
  standing_.clear();
  leadBy(Ground::kNone);
  if (holds_ && classIsKnown_ && !class_.empty()) read();
}

void ClassClaim::leadBy(Ground ground) {
  ground_ = ground;
  if (ground != Ground::kNone) standsByFor_.clear();
  tell();
}

void ClassClaim::read() {
  ApiRequest request;
  request.path = listOfOne(class_);
  ask(std::move(request), &ClassClaim::takeClass);
}

void ClassClaim::ask(ApiRequest request, void (ClassClaim::*take)(const ApiAnswer& answer)) {
  request.idle = LeaderElection::kRequestTimeout;
  writing_ = take == &ClassClaim::takeWritten;
  client_.worker().timers().set(*this, client_.worker().now() + LeaderElection::kRequestTimeout);
  exchange_ = std::make_unique<ApiExchange>(client_, request, [this, take](base::Result<ApiAnswer>&& answer) {
    const std::unique_ptr<ApiExchange> exchange = std::move(exchange_);
    const double part = static_cast<double>(random_.next() >> 11) / static_cast<double>(std::uint64_t{1} << 53);
    const auto pause =
        std::chrono::duration_cast<base::Duration>(LeaderElection::kRetryPeriod * (1 + LeaderElection::kJitter * part));
    client_.worker().timers().set(*this, client_.worker().now() + pause);
    if (!answer.ok()) return failed(answer.error().detail);
    (this->*take)(*answer);
  });
}

void ClassClaim::onTimer() {
  if (std::exchange(exchange_, nullptr) != nullptr) failed("no answer in time");
  read();
}

/// Returns true if the ground on which it leads stays valid with a claim of that namespace, or with none. `changed` is
/// true if the claim is another one than before.
bool ClassClaim::keepsGround(const std::string& nameSpace, bool changed) const {
  const bool own = nameSpace == candidacy_.nameSpace;
  if (ground_ == Ground::kStanding) return own;
  // If the claim has not changed, the next step checks whether its Lease is alive again.
  return ground_ == Ground::kLease && (own || nameSpace.empty() || !changed);
}

void ClassClaim::takeClass(const ApiAnswer& answer) {
  if (const std::string fault = faultOfList(answer); !fault.empty()) return failed(fault);
  const content::Value* found = firstItem(answer);
  if (found == nullptr) return;  // it was deleted; the watch reports that soon
  const content::Value* metadata = valueIn(found, "metadata");
  classVersion_ = textIn(metadata, "resourceVersion");
  const std::string_view claim = textIn(valueIn(metadata, "annotations"), annotation_);
  const bool changed = std::exchange(standing_, std::string(claim)) != claim;
  if (changed) standsSince_ = client_.worker().now();
  if (!claim_.empty() && claim == claim_) return leadBy(Ground::kClaim);  // whether or not it was answered
  const std::string nameSpace = namespaceOfClaim(claim);
  if (!keepsGround(nameSpace, changed)) leadBy(Ground::kNone);
  if (nameSpace.empty() || nameSpace == candidacy_.nameSpace) return write();
  if (std::exchange(other_, nameSpace) != nameSpace) seen_ = {};
  ApiRequest request;
  request.path = listOfOne(leasePath(nameSpace, candidacy_.lease));
  ask(std::move(request), &ClassClaim::takeLease);
}

void ClassClaim::takeLease(const ApiAnswer& answer) {
  if (const std::string fault = faultOfList(answer); !fault.empty()) return failed(fault);
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
  leadBy(Ground::kNone);
  told_.clear();
  const std::string holder = other_ + "/" + seen_.holderIdentity;
  if (std::exchange(standsByFor_, holder) == holder) return;
  client_.log().warn(
      "another controller of the GatewayClass leads, so this one stands by",
      {{"gatewayClass", class_}, {"lease", other_ + "/" + candidacy_.lease}, {"identity", seen_.holderIdentity}});
}

void ClassClaim::write() {
  const base::MonotonicTime now = client_.worker().now();
  if (ground_ != Ground::kNone && now - triedAt_ < kTryToClaimAgainAfter) return;
  triedAt_ = now;
  // Each claim is another text, so that it changes the object.
  base::JsonWriter value;
  value.beginObject().member("namespace", candidacy_.nameSpace).member("identity", candidacy_.identity);
  value.member("since", apiMicroTime(client_.worker().clock().wallNow())).endObject();
  base::JsonWriter json;
  json.beginObject().key("metadata").beginObject().member("resourceVersion", classVersion_);
  claim_ = value.take();
  json.key("annotations").beginObject().member(annotation_, claim_).endObject().endObject().endObject();
  ask(mergePatchRequest(class_ + "?fieldManager=sluice-leader", json.take()), &ClassClaim::takeWritten);
}

void ClassClaim::takeWritten(const ApiAnswer& answer) {
  if (answer.status == kClaimedMeanwhile) return;
  if (!answer.ok() && !isClaimRefused(answer.status)) return failed(answer.fault());
  leadBy(answer.ok() ? Ground::kClaim : Ground::kLease);
  if (!answer.ok()) return tellFault(answer.fault());
  told_.clear();
}

/// Handles a request that failed or was not answered. If it was a claim, its outcome is unknown.
void ClassClaim::failed(const std::string& reason) {
  const bool own = namespaceOfClaim(standing_) == candidacy_.nameSpace;
  const bool stands = own && client_.worker().now() - standsSince_ >= LeaderElection::kLeaseDuration;
  if (writing_ && ground_ == Ground::kNone && stands) leadBy(Ground::kStanding);
  tellFault(reason);
}

/// Logs once why this process cannot claim the class, and the consequence.
void ClassClaim::tellFault(const std::string& reason) {
  const std::string consequence =
      leads_ ? "this one leads by its Lease meanwhile" : "this one does not lead, and nothing is written until then";
  const std::string fault = reason + "; " + consequence;
  if (std::exchange(told_, fault) == fault) return;
  client_.log().warn("the leader cannot be announced in the GatewayClass",
                     {{"gatewayClass", class_}, {"reason", reason}, {"consequence", consequence}});
}

void ClassClaim::tell() {
  const bool leads = holds_ && classIsKnown_ && (class_.empty() || ground_ != Ground::kNone);
  if (std::exchange(leads_, leads) != leads) user_.onLeads(leads);
}

}  // namespace sluice::kubernetes
