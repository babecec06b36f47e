// One request to an API server and its whole answer, for requests whose answers are small, or are lists.
//
// Owned by the object that waits for the answer; destroying it cancels the request. Lives on the main thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/kubernetes/client/api_client.h"
#include "proxy/kubernetes/client/list_decoder.h"

namespace sluice::kubernetes {

struct ApiAnswer {
  int status = 0;
  content::Value body;  // null if the answer is no JSON, or longer than ApiExchange::kMostBytes
  base::Duration retryAfter{};

  bool ok() const { return status >= 200 && status < 300; }
  /// Returns "HTTP status 403: ..." with the message of a Status.
  std::string fault() const;
};

class ApiExchange final : private ApiCallUser {
 public:
  static constexpr std::size_t kMostBytes = 4 * 1024 * 1024;

  /// Called once, inside a Turn, with the answer, or with the reason why there is none. It may destroy the exchange.
  using Done = std::function<void(base::Result<ApiAnswer>&& answer)>;
  /// `client` outlives it.
  ApiExchange(ApiClient& client, const ApiRequest& request, Done done);
  using TakeItem = std::function<void(content::Value&& item)>;
  /// For an answer that is a list of any length. `take` gets each item when it arrives, except for those that are no
  /// JSON or too large (ListDecoder), and only records it. The body of the answer is the list without its items; null
  /// if it cannot be read.
  ApiExchange(ApiClient& client, const ApiRequest& request, TakeItem take, Done done);

 private:
  void onApiResponse(int status, base::Duration retryAfter) override;
  void onApiBody(std::string_view bytes) override;
  void onApiEnd() override;
  void onApiFailed(const base::Error& error) override;
  void takeItems(std::string_view bytes);
  bool takesItems() const { return take_ != nullptr && answer_.ok(); }
  void end(base::Result<ApiAnswer>&& answer);

  Done done_;
  ApiAnswer answer_;
  std::string text_;
  bool tooLong_ = false;
  const TakeItem take_;
  ListDecoder list_{/*leavesOut=*/true};
  bool unreadable_ = false;  // the list cannot be read
  ApiCall call_;
};

}  // namespace sluice::kubernetes
