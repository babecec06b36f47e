#include "proxy/server/explain/explain_page.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/content/schema/uri_reference.h"
#include "proxy/control/explain/explain.h"
#include "proxy/control/explain/explanation_json.h"

namespace sluice::server {
namespace {

base::Error badQuery(std::string why) { return base::Error::badRequest(400, std::move(why)); }

/// Decodes a name or a value as forms encode it: "+" is a space.
std::optional<std::string> formDecoded(std::string_view encoded) {
  std::string text(encoded);
  std::replace(text.begin(), text.end(), '+', ' ');
  return content::percentDecoded(text);
}

base::Status take(const std::string& name, std::string value, control::RequestInQuestion& request) {
  if (name == "url") {
    request.url = std::move(value);
  } else if (name == "method") {
    request.method = std::move(value);
  } else if (name == "header") {
    request.headers.push_back(std::move(value));
  } else if (name == "clientAddress") {
    request.clientAddress = std::move(value);
  } else if (name == "gateway") {
    request.gateway = std::move(value);
  } else {
    return badQuery(base::quote(name) + " is no parameter; there are url, method, header, clientAddress and gateway");
  }
  return base::Done{};
}

AdminDocument badRequest(const base::Error& error) { return {400, "text/plain; charset=utf-8", error.detail + "\n"}; }

}  // namespace

base::Result<control::RequestInQuestion> readExplainQuery(std::string_view query) {
  if (query.size() > kMaxExplainQuery) {
    return badQuery("the query is longer than " + std::to_string(kMaxExplainQuery) + " bytes");
  }
  control::RequestInQuestion request;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = formDecoded(pair.substr(0, equals));
    auto value = formDecoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return badQuery("a \"%\" in the query is followed by no two hex digits");
    if (base::Status taken = take(*name, *std::move(value), request); !taken.ok()) return taken.error();
  }
  if (request.url.empty()) return badQuery("url is missing");
  return request;
}

AdminDocument explainPage(const control::CompiledConfiguration& served, std::string_view query) {
  const auto request = readExplainQuery(query);
  if (!request) return badRequest(request.error());
  const auto explanation = control::explain(*served.compiled.snapshot, served.model, *request);
  if (!explanation) return badRequest(explanation.error());
  return {200, "application/json", control::explanationJson(*explanation) + "\n"};
}

}  // namespace sluice::server
