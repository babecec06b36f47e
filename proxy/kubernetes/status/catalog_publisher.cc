#include "proxy/kubernetes/status/catalog_publisher.h"

#include <algorithm>
#include <utility>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/client/api_path.h"

namespace sluice::kubernetes {
namespace {

constexpr base::Duration kPublishAgainAfter = std::chrono::seconds(10);
constexpr base::Duration kPublishAnewAfter = std::chrono::minutes(1);

}  // namespace

void CatalogPublisher::want(std::string list) {
  wanted_ = std::move(list);
  begin();
}

void CatalogPublisher::lead(bool leads) {
  leads_ = leads;
  exchange_.reset();
  published_.clear();  // another leader may have written since
  begin();
}

void CatalogPublisher::onTimer() {
  published_.clear();
  begin();
}

void CatalogPublisher::begin() {
  if (!leads_ || exchange_ != nullptr || wanted_ == published_) return;
  const auto list = content::parseJson(wanted_, {.bytes = ApiExchange::kMostBytes});
  const content::Value* items = list.ok() ? list->find("items") : nullptr;
  if (items == nullptr) return;
  left_.clear();
  for (const content::Value& item : items->items) {
    const std::string_view apiVersion = textIn(&item, "apiVersion");
    const std::size_t slash = apiVersion.find('/');
    const std::string_view group = slash == std::string_view::npos ? std::string_view() : apiVersion.substr(0, slash);
    const config::ObjectKind* kind = config::findObjectKind(group, textIn(&item, "kind"));
    const content::Value* metadata = item.find("metadata");
    if (kind == nullptr || metadata == nullptr) continue;
    left_.push_back({collectionPath(*kind, apiVersion.substr(slash == std::string_view::npos ? 0 : slash + 1),
                                    textIn(metadata, "namespace")) +
                         "/" + std::string(textIn(metadata, "name")) + "?fieldManager=sluice-catalog&force=true",
                     content::writeJson(item)});
  }
  publishing_ = wanted_;
  applyNext();
}

void CatalogPublisher::applyNext() {
  if (left_.empty()) {
    published_ = std::move(publishing_);
    client_.worker().timers().set(*this, client_.worker().now() + kPublishAnewAfter);
    return begin();
  }
  ApiRequest request;
  request.method = http::Method::kPatch;
  request.path = std::move(left_.front().path);
  request.body = std::move(left_.front().body);
  request.contentType = "application/apply-patch+yaml";
  left_.erase(left_.begin());
  exchange_ =
      std::make_unique<ApiExchange>(client_, request, [this](base::Result<ApiAnswer>&& answer) { applied(answer); });
}

void CatalogPublisher::applied(const base::Result<ApiAnswer>& answer) {
  const std::unique_ptr<ApiExchange> exchange = std::move(exchange_);
  if (!leads_) return;
  if (answer.ok() && answer->ok()) {
    told_.clear();
    return applyNext();
  }
  const std::string reason = answer.ok() ? answer->fault() : answer.error().detail;
  if (std::exchange(told_, reason) != reason) {
    client_.log().warn("the list of supported processors cannot be published", {{"reason", reason}});
  }
  const base::Duration asked = answer.ok() ? answer->retryAfter : base::Duration::zero();
  client_.worker().timers().set(*this, client_.worker().now() + std::max(kPublishAgainAfter, asked));
}

}  // namespace sluice::kubernetes
