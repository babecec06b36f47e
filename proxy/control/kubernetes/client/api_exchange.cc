#include "proxy/control/kubernetes/client/api_exchange.h"

#include <utility>

#include "proxy/content/json.h"
#include "proxy/control/kubernetes/client/api_forms.h"

namespace sluice::control {

std::string ApiAnswer::fault() const {
  return "HTTP status " + std::to_string(status) + ": " + std::string(textIn(&body, "message"));
}

ApiExchange::ApiExchange(ApiClient& client, const ApiRequest& request, Done done)
    : done_(std::move(done)), call_(client, request, static_cast<ApiCallUser&>(*this)) {}

void ApiExchange::onApiResponse(int status, base::Duration retryAfter) {
  answer_.status = status;
  answer_.retryAfter = retryAfter;
}

void ApiExchange::onApiBody(std::string_view bytes) {
  if (text_.size() + bytes.size() <= kMostBytes) text_ += bytes;  // a part of it is no JSON
}

void ApiExchange::onApiEnd() {
  if (auto body = content::parseJson(text_, {.bytes = kMostBytes}); body.ok()) answer_.body = std::move(*body);
  end(std::move(answer_));
}

void ApiExchange::onApiFailed(const base::Error& error) { end(base::Error(error)); }

// It may destroy this.
void ApiExchange::end(base::Result<ApiAnswer>&& answer) {
  const Done done = std::move(done_);
  done(std::move(answer));
}

}  // namespace sluice::control
