#include "filters/direct_response.h"

#include <charconv>
#include <utility>

#include "proxy/base/error.h"

namespace sluice::filters {
namespace {

constexpr std::string_view kDirectResponseSchema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "title": "DirectResponse",
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "status": {"type": "integer", "minimum": 400, "maximum": 599, "default": 403},
    "detail": {"type": "string", "minLength": 1, "maxLength": 256, "default": "this request is not allowed"}
  }
})";

class DirectResponse final : public processing::PreAuthProcessor {
 public:
  explicit DirectResponse(base::Error error) : error_(std::move(error)) {}

  processing::Verdict process(processing::Call& /*call*/) const override {
    return processing::Verdict::reply({error_, {}});
  }

 private:
  const base::Error error_;
};

processing::Made makeDirectResponse(const processing::Use& use) {
  base::Error error(base::ErrorType::kHttpRequestDenied, base::ErrorOrigin::kProcessor,
                    use.config.find("detail")->text);
  // The schema takes 4.03e2 as an integer too.
  const std::string& status = use.config.find("status")->text;
  const char* const end = status.data() + status.size();
  const auto read = std::from_chars(status.data(), end, error.status);
  if (read.ec != std::errc() || read.ptr != end) {
    return {nullptr, {"InvalidConfig", "status: is not written as a whole number"}};
  }
  return {std::make_shared<const DirectResponse>(std::move(error)), {}};
}

}  // namespace

processing::BuiltinType directResponse() {
  return {"sluice.dev/DirectResponse:v1",
          {processing::Phase::kRequestHeaders},
          true,
          kDirectResponseSchema,
          makeDirectResponse};
}

}  // namespace sluice::filters
