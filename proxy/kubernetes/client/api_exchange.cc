#include "proxy/kubernetes/client/api_exchange.h"

#include <utility>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"

namespace sluice::kubernetes {

std::string ApiAnswer::fault() const {
  return "HTTP status " + std::to_string(status) + ": " + std::string(textIn(&body, "message"));
}

ApiExchange::ApiExchange(ApiClient& client, const ApiRequest& request, Done done)
    : ApiExchange(client, request, nullptr, std::move(done)) {}

ApiExchange::ApiExchange(ApiClient& client, const ApiRequest& request, TakeItem take, Done done)
    : done_(std::move(done)), take_(std::move(take)), call_(client, request, static_cast<ApiCallUser&>(*this)) {}

void ApiExchange::onApiResponse(int status, base::Duration retryAfter) {
  answer_.status = status;
  answer_.retryAfter = retryAfter;
}

void ApiExchange::onApiBody(std::string_view bytes) {
  if (takesItems()) return takeItems(bytes);
  tooLong_ = tooLong_ || text_.size() + bytes.size() > kMostBytes;
  if (!tooLong_) text_ += bytes;
}

void ApiExchange::takeItems(std::string_view bytes) {
  while (!unreadable_) {
    base::Result<std::optional<content::Value>> item = list_.next(bytes);
    unreadable_ = !item.ok();
    if (unreadable_ || !item->has_value()) return;
    take_(*std::move(*item));
  }
}

void ApiExchange::onApiEnd() {
  auto body = takesItems() && !unreadable_ ? list_.rest() : content::parseJson(text_, {.bytes = kMostBytes});
  if (!tooLong_ && body.ok()) answer_.body = std::move(*body);
  end(std::move(answer_));
}

void ApiExchange::onApiFailed(const base::Error& error) { end(base::Error(error)); }

// It may destroy this.
void ApiExchange::end(base::Result<ApiAnswer>&& answer) {
  const Done done = std::move(done_);
  done(std::move(answer));
}

}  // namespace sluice::kubernetes
