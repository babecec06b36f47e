#include "proxy/kubernetes/status/catalog_publisher.h"

#include <utility>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/api_path.h"
#include "proxy/kubernetes/writer/write_requests.h"

namespace sluice::kubernetes {
namespace {

constexpr base::Duration kPublishAgainAfter = std::chrono::seconds(10);
constexpr base::Duration kPublishAnewAfter = std::chrono::minutes(1);

/// The key of the whole list, whose objects are applied in order.
WriteKey catalogKey() { return {config::kGatewayGroup, config::GatewayClass::kKind, {}, {}}; }

/// Returns the requests that apply the objects of a list.
std::deque<ApiRequest> requestsOf(const std::string& text) {
  std::deque<ApiRequest> requests;
  const auto list = content::parseJson(text, {.bytes = ApiExchange::kMostBytes});
  const content::Value* items = list.ok() ? list->find("items") : nullptr;
  if (items == nullptr) return requests;
  for (const content::Value& item : items->items) {
    const std::string_view apiVersion = textIn(&item, "apiVersion");
    const std::size_t slash = apiVersion.find('/');
    const std::string_view group = slash == std::string_view::npos ? std::string_view() : apiVersion.substr(0, slash);
    const config::ObjectKind* kind = config::findObjectKind(group, textIn(&item, "kind"));
    const content::Value* metadata = item.find("metadata");
    if (kind == nullptr || metadata == nullptr) continue;
    const std::string_view version = apiVersion.substr(slash == std::string_view::npos ? 0 : slash + 1);
    requests.push_back(applyRequest(
        collectionPath(*kind, version, textIn(metadata, "namespace")) + "/" + std::string(textIn(metadata, "name")),
        "sluice-catalog", ApplyConflicts::kForce, content::writeJson(item)));
  }
  return requests;
}

}  // namespace

CatalogPublisher::CatalogPublisher(ApiClient& client)
    : client_(client),
      writer_(client,
              {1, kPublishAgainAfter, base::Duration::max(), "the list of supported processors cannot be published"},
              *this) {}

void CatalogPublisher::want(std::string list) {
  if (wanted_ == list) return;
  wanted_ = std::move(list);
  if (leads_) writer_.want(catalogKey());
}

void CatalogPublisher::lead(bool leads) {
  leads_ = leads;
  writer_.clear();
  left_.clear();
  if (leads) writer_.want(catalogKey());  // another leader may have written since
}

std::optional<ApiRequest> CatalogPublisher::requestFor(const WriteKey& /*key*/) {
  if (left_.empty()) {
    publishing_ = wanted_;
    left_ = requestsOf(publishing_);
  }
  return left_.empty() ? std::nullopt : std::optional(left_.front());
}

void CatalogPublisher::onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& /*answer*/) {
  const base::MonotonicTime now = client_.worker().now();
  if (outcome != WriteOutcome::kDone) {
    left_.clear();
    return writer_.want(key, now + kPublishAgainAfter);
  }
  left_.pop_front();
  const bool rests = left_.empty() && publishing_ == wanted_;
  writer_.want(key, rests ? now + kPublishAnewAfter : now);
}

}  // namespace sluice::kubernetes
