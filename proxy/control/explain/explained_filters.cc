#include "proxy/control/explain/explained_filters.h"

#include <string>
#include <utility>

#include "proxy/routing/rule_reply.h"

namespace sluice::control {
namespace {

constexpr const char* kOfRule = "rule";
constexpr const char* kOfBackend = "backendRef";

std::string editInWords(const routing::HeaderEdit& edit) {
  std::string text;
  const auto append = [&](const char* verb, const std::string& name) {
    text += (text.empty() ? "" : ", ") + std::string(verb) + " " + name;
  };
  for (const std::string& name : edit.remove) append("remove", name);
  for (const auto& [name, value] : edit.set) append("set", name);
  for (const auto& [name, value] : edit.add) append("add", name);
  if (!edit.authority.empty()) append("set", "host");
  return text;
}

std::string rewriteInWords(const routing::UrlRewrite& rewrite, bool pathCounts) {
  std::string text;
  if (!rewrite.authority.empty()) text = "hostname " + rewrite.authority;
  if (rewrite.path == routing::PathRewrite::kNone) return text;
  if (!text.empty()) text += ", ";
  if (!pathCounts) return text + "its path yields to that of the backendRef";
  const bool full = rewrite.path == routing::PathRewrite::kFullPath;
  return text + (full ? "path " : "prefix ") + (rewrite.replacement.empty() ? "/" : rewrite.replacement);
}

class FilterLister {
 public:
  void addRequestHeaders(const base::Box<routing::HeaderEdit>& edit, const char* scope) {
    if (edit) filters_.push_back({"RequestHeaderModifier", scope, false, editInWords(*edit)});
  }
  void addRewrite(const routing::UrlRewrite& rewrite, const char* scope, bool pathCounts) {
    if (!rewrite.empty()) filters_.push_back({"URLRewrite", scope, false, rewriteInWords(rewrite, pathCounts)});
  }
  void addMirrors(const std::vector<routing::RequestMirror>& mirrors, const char* scope);
  void addRedirect(const routing::AppliedFilters& applied) {
    if (applied.rule.redirect)
      filters_.push_back({"RequestRedirect", kOfRule, false, {}});
    else if (applied.backend != nullptr && applied.backend->redirect)
      filters_.push_back({"RequestRedirect", kOfBackend, false, {}});
  }
  void addResponseHeaders(const routing::AppliedFilters& applied) {
    addResponseEdit(applied.rule.responseHeaders, kOfRule);
    if (applied.backend != nullptr) addResponseEdit(applied.backend->responseHeaders, kOfBackend);
  }
  void addCors(const routing::AppliedFilters& applied) {
    const routing::Cors* cors = routing::corsOf(applied);
    if (cors == nullptr) return;
    const bool ofRule = cors == applied.rule.cors.get();
    filters_.push_back({"CORS", ofRule ? kOfRule : kOfBackend, true, "says which origins may read the answer"});
  }
  std::vector<ExplainedFilter> take() { return std::move(filters_); }

 private:
  void addResponseEdit(const base::Box<routing::HeaderEdit>& edit, const char* scope) {
    if (edit) filters_.push_back({"ResponseHeaderModifier", scope, true, editInWords(*edit)});
  }

  std::vector<ExplainedFilter> filters_;
};

void FilterLister::addMirrors(const std::vector<routing::RequestMirror>& mirrors, const char* scope) {
  for (const routing::RequestMirror& each : mirrors) {
    const std::string share = each.takesAll() ? ""
                                              : ", " + std::to_string(each.numerator) + " of " +
                                                    std::to_string(each.denominator) + " requests";
    filters_.push_back({"RequestMirror", scope, false, "to " + each.backend->name + share});
  }
}

}  // namespace

std::vector<ExplainedFilter> filtersOfForwarded(const routing::Rule& rule, const routing::WeightedBackend& backend) {
  FilterLister lister;
  lister.addRequestHeaders(rule.requestHeaders, kOfRule);
  lister.addMirrors(rule.mirrors, kOfRule);
  lister.addRewrite(rule.rewrite, kOfRule, backend.rewrite.path == routing::PathRewrite::kNone);
  lister.addRequestHeaders(backend.requestHeaders, kOfBackend);
  lister.addRewrite(backend.rewrite, kOfBackend, true);
  lister.addMirrors(backend.mirrors, kOfBackend);
  lister.addResponseHeaders({rule, &backend});
  lister.addCors({rule, &backend});
  return lister.take();
}

std::vector<ExplainedFilter> filtersOfAnswered(const routing::Rule& rule, const routing::WeightedBackend* backend) {
  FilterLister lister;
  lister.addRedirect({rule, backend});
  lister.addResponseHeaders({rule, backend});
  lister.addCors({rule, backend});
  return lister.take();
}

std::vector<ExplainedFilter> filtersOfRefused(const routing::Rule& rule, const routing::WeightedBackend* backend) {
  FilterLister lister;
  lister.addCors({rule, backend});
  return lister.take();
}

}  // namespace sluice::control
