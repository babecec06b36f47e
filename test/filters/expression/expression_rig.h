// Compiles expressions and evaluates them on one message.
#pragma once

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "filters/expression/expression.h"
#include "filters/expression/json_part.h"
#include "proxy/content/json.h"
#include "proxy/http/message.h"

namespace sluice::test {

class ExpressionRig {
 public:
  ExpressionRig() : request_(pool_), response_(pool_) {
    request_.head.methodText = "POST";
    request_.head.method = http::Method::kPost;
    request_.head.scheme = http::Scheme::kHttps;
    request_.head.authority = "api.example.com:8443";
    request_.head.target = "/v1/chat?user=7&x=a%20b";
    for (const auto& [name, value] : {std::pair("content-type", "application/json"), std::pair("x-tier", "gold"),
                                      std::pair("x-many", "one"), std::pair("x-many", "two")}) {
      request_.head.headers.add(request_.arena, name, value);
    }
    response_.head.status = 429;
    response_.head.headers.add(response_.arena, "retry-after", "30");
  }

  http::RequestHead& request() { return request_.head; }
  processing::Peer peer{"192.0.2.1", "apps", "worker", "spiffe://a.test/ns/apps/sa/worker",
                        base::Assurance::kCertificate};
  std::uint64_t mostSteps = processing::WorkBounds().steps;
  std::string body = R"({"model": "small-1", "n": 3, "t": 0.5, "big": 12345678901234567890, "on": true, "none": null,
      "tags": ["a", "b\n", 7], "deep": {"a": [{"c": "found"}], "x.y": "dotted", "\u0061b": 1}})";

  /// Returns the error of a compilation; "" if it succeeds.
  static std::string refusal(std::string_view source, filters::MessageSide side = filters::MessageSide::kRequest) {
    filters::BodyReads reads;
    filters::ExpressionPatterns patterns({});
    const auto expression = filters::Expression::compile(source, side, reads, patterns);
    return expression ? "" : expression.error().detail;
  }

  /// Returns the value as JSON, "error: " and the reason, or "refused: " and the reason.
  std::string operator()(std::string_view source, filters::MessageSide side = filters::MessageSide::kRequest) {
    filters::BodyReads reads;
    filters::ExpressionPatterns patterns({});
    const auto expression = filters::Expression::compile(source, side, reads, patterns);
    if (!expression) return "refused: " + expression.error().detail;
    base::Arena arena(pool_);
    filters::BodyDocument document(body, reads, arena);
    filters::ExpressionWork work;
    filters::Meter meter(arena, work, mostSteps);
    const bool ofResponse = side == filters::MessageSide::kResponse;
    return shown(expression->evaluate({request_.head, peer, ofResponse ? &response_.head : nullptr, &document}, meter));
  }

  static std::string shown(const filters::Datum& datum) {
    switch (datum.type()) {
      case filters::DatumType::kError:
        return "error: " + std::string(datum.text());
      case filters::DatumType::kNull:
        return "null";
      case filters::DatumType::kBool:
        return datum.asBool() ? "true" : "false";
      case filters::DatumType::kInt:
        return std::to_string(datum.asInt());
      case filters::DatumType::kDouble: {
        char digits[32];
        const auto written = std::to_chars(digits, digits + sizeof digits, datum.asDouble());
        return "double " + std::string(digits, written.ptr);
      }
      case filters::DatumType::kString:
        return content::jsonString(datum.text());
      case filters::DatumType::kList: {
        std::string list;
        for (const filters::Datum& item : datum.items()) list += (list.empty() ? "" : ", ") + shown(item);
        return "[" + list + "]";
      }
      case filters::DatumType::kJson:
        return "json " + std::string(datum.text());
      case filters::DatumType::kHeaders:
        return "headers";
    }
    return "";
  }

 private:
  base::ChunkPool pool_;
  http::RequestMessage request_;
  http::ResponseMessage response_;
};

}  // namespace sluice::test
