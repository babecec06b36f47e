// Publishes which kinds of payload processors the gateway supports: a ConfigMap with the list, which may be long, and
// an annotation of the GatewayClass that names it.
//
// Only the leader writes both, by server-side apply: whenever the list has changed, and once a minute, because
// admission may depend on them and anybody may have changed or deleted them. Lives on the main thread.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "proxy/kubernetes/writer/object_writer.h"

namespace sluice::kubernetes {

class CatalogPublisher final : private ObjectWriterUser {
 public:
  /// `client` outlives it.
  explicit CatalogPublisher(ApiClient& client);

  /// Takes the objects to be published, a List in JSON (config/catalog/supported_kinds.h); empty: none. Inside a Turn.
  void want(std::string list);
  void lead(bool leads);

 private:
  std::optional<ApiRequest> requestFor(const WriteKey& key) override;
  void onWritten(const WriteKey& key, WriteOutcome outcome, const base::Result<ApiAnswer>& answer) override;

  ApiClient& client_;
  std::string wanted_;
  std::string publishing_;
  std::deque<ApiRequest> left_;  // remaining requests of the current list
  ObjectWriter writer_;
  bool leads_ = false;
};

}  // namespace sluice::kubernetes
