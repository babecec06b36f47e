// Publishes which kinds of payload processors the gateway supports: a ConfigMap with the list, which may be long, and
// an annotation of the GatewayClass that names it.
//
// Both are written by server-side apply, by who leads alone: whenever the list has changed, and once a minute, because
// admission may depend on them and somebody may have changed or deleted them. Lives on the main thread.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proxy/kubernetes/client/api_exchange.h"
#include "proxy/net/timers.h"

namespace sluice::kubernetes {

class CatalogPublisher final : private net::Timer {
 public:
  /// `client` outlives it.
  explicit CatalogPublisher(ApiClient& client) : client_(client) {}

  /// Takes the objects to be published, a List in JSON (config/catalog/supported_kinds.h); empty: none. Inside a Turn.
  void want(std::string list);
  void lead(bool leads);

 private:
  struct Apply {
    std::string path;
    std::string body;
  };

  void onTimer() override;
  void begin();
  void applyNext();
  void applied(const base::Result<ApiAnswer>& answer);

  ApiClient& client_;
  std::string wanted_;
  std::string published_;
  std::string publishing_;
  std::vector<Apply> left_;  // of what is being published
  std::unique_ptr<ApiExchange> exchange_;
  std::string told_;
  bool leads_ = false;
};

}  // namespace sluice::kubernetes
