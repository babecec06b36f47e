#include "proxy/server/admin/explain_page.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "proxy/base/text.h"
#include "proxy/content/output/output.h"
#include "proxy/content/schema/uri_reference.h"
#include "proxy/control/explain/explain.h"
#include "proxy/control/explain/explained_health.h"
#include "proxy/control/explain/explanation_output.h"
#include "proxy/control/explain/refused_routes.h"
#include "proxy/processing/query_edit.h"

namespace sluice::server {
namespace {

base::Error badQuery(std::string why) { return base::Error::badRequest(400, std::move(why)); }

/// Decodes a name or a value as forms encode it: "+" is a space.
std::optional<std::string> formDecoded(std::string_view encoded) {
  std::string text(encoded);
  std::replace(text.begin(), text.end(), '+', ' ');
  return content::percentDecoded(text);
}

base::Status take(const std::string& name, std::string value, ExplainQuery& query) {
  control::RequestInQuestion& request = query.request;
  if (name == "url") {
    request.url = std::move(value);
  } else if (name == "method") {
    request.method = std::move(value);
  } else if (name == "header") {
    request.headers.push_back(std::move(value));
  } else if (name == "clientAddress") {
    request.clientAddress = std::move(value);
  } else if (name == "as") {
    request.caller.account = std::move(value);
  } else if (name == "principal") {
    request.caller.principal = std::move(value);
  } else if (name == "assurance") {
    request.caller.assurance = std::move(value);
  } else if (name == "sni") {
    request.serverName = std::move(value);
  } else if (name == "gateway") {
    request.gateway = std::move(value);
  } else if (name == "resolve") {
    if (value != "true" && value != "false") return badQuery("resolve is true or false");
    query.resolve = value == "true";
  } else if (name == "output") {
    if (value != "json" && value != "text") return badQuery("output is json or text");
    query.forPeople = value == "text";
  } else {
    return badQuery(base::quote(name) +
                    " is no parameter; there are url, method, header, clientAddress, as, principal, assurance, sni, "
                    "gateway, resolve and output");
  }
  return base::Done{};
}

constexpr const char* kExplainText = "text/plain; charset=utf-8";

AdminDocument badRequest(const base::Error& error) { return {400, kExplainText, error.detail + "\n"}; }

AdminDocument documentOf(const control::Explanation& explanation, bool forPeople) {
  content::Output output = control::explanationOutput(explanation);
  if (forPeople) return {200, kExplainText, std::move(output.text)};
  return {200, "application/json", content::outputJson(output.value) + "\n"};
}

}  // namespace

base::Result<ExplainQuery> readExplainQuery(std::string_view query) {
  if (query.size() > kMaxExplainQuery) {
    return badQuery("the query is longer than " + std::to_string(kMaxExplainQuery) + " bytes");
  }
  ExplainQuery read;
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    const auto name = formDecoded(pair.substr(0, equals));
    auto value = formDecoded(pair.substr(std::min(equals + 1, pair.size())));
    if (!name || !value) return badQuery("a \"%\" in the query is followed by no two hex digits");
    if (base::Status taken = take(*name, *std::move(value), read); !taken.ok()) return taken.error();
  }
  if (read.request.url.empty()) return badQuery("url is missing");
  return read;
}

std::string writeExplainQuery(const ExplainQuery& query) {
  std::string text;
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text.append(text.empty() ? "" : "&").append(name).append("=").append(processing::encodeQuery(value));
  };
  const control::RequestInQuestion& request = query.request;
  add("url", request.url);
  add("method", request.method);
  for (const std::string& header : request.headers) add("header", header);
  add("clientAddress", request.clientAddress);
  add("as", request.caller.account);
  add("principal", request.caller.principal);
  add("assurance", request.caller.assurance);
  add("sni", request.serverName);
  add("gateway", request.gateway);
  if (query.resolve) add("resolve", "true");
  add("output", query.forPeople ? "text" : "json");
  return text;
}

void ExplainAnswers::ask(const control::CompiledConfiguration& served, std::string_view query, AdminAnswer answer) {
  const auto read = readExplainQuery(query);
  if (!read) return answer.give(badRequest(read.error()));
  const std::shared_ptr<const routing::Snapshot>& snapshot = served.compiled.snapshot;
  auto explanation = control::explain(*snapshot, served.model, read->request);
  if (!explanation) return answer.give(badRequest(explanation.error()));
  control::addRefusedRoutes(served.model, served.compiled.statuses, *explanation);
  control::addHealth(*snapshot, *explanation);
  if (!read->resolve) return answer.give(documentOf(*explanation, read->forPeople));
  lookUp({std::make_unique<BackendLookup>(std::move(*explanation), snapshot), std::move(answer), read->forPeople});
}

void ExplainAnswers::lookUp(WaitingAnswer waiting) {
  if (waiting_.size() == kMostLookups) {
    return waiting.answer.give({503, kExplainText, "other requests with resolve=true are not answered yet\n"});
  }
  const std::uint64_t number = ++asked_;
  WaitingAnswer& held = waiting_.try_emplace(number, std::move(waiting)).first->second;
  const base::Status begun = held.lookup->begin(main_, [this, number] { finish(number); });
  if (begun.ok()) return;
  held.answer.give({500, kExplainText, begun.error().detail + "\n"});
  waiting_.erase(number);
}

void ExplainAnswers::finish(std::uint64_t number) {
  const auto found = waiting_.find(number);
  if (found == waiting_.end()) return;
  found->second.answer.give(documentOf(found->second.lookup->explanation(), found->second.forPeople));
  waiting_.erase(found);
}

}  // namespace sluice::server
