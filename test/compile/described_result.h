// Describes the result of compile() as text, by which two compilations can be compared. The text has the statuses, the
// Backends, and for each socket the answers to some requests.
#pragma once

#include <string>

#include "proxy/compile/compile.h"
#include "test/routing/request_maker.h"

namespace sluice::compile::test {

inline std::string describedAnswer(const routing::RouteMatch& match) {
  if (match.rule == nullptr) return match.reason;
  return match.listener->gateway + "/" + match.listener->section + " " + match.rule->route + " " +
         std::to_string(match.rule->totalWeight) + " " + std::to_string(match.rule->mirrors.size()) +
         (match.rule->failure ? " " + match.rule->failure->detail : "");
}

inline std::string describedBackend(const routing::BackendPlan& plan) {
  std::string text = plan.name + " " + plan.identity.text();
  if (!plan.endpoints) return text + "\n";
  for (const routing::Endpoint& each : *plan.endpoints) text += " " + each.ip + "-" + std::to_string(each.port);
  return text + "\n";
}

inline std::string describedResult(const CompileResult& result) {
  std::string text;
  for (const config::ObjectStatus& each : result.statuses) text += config::objectStatusJson(each) + "\n";
  for (const auto& backend : result.snapshot->backends) text += describedBackend(*backend);
  for (const routing::Bind& bind : result.snapshot->binds) {
    text += bind.address + " " + std::to_string(bind.port) + (bind.tls ? " TLS" : "") + "\n";
    for (const char* host : {"a.test", "b.test", "b.a.test", "other"}) {
      for (const char* path : {"/", "/s", "/s/m", "/s/n", "/t/m"}) {
        const routing::test::RequestMaker request("POST", host, path);
        text += "  " + describedAnswer(routing::routesOf(bind.service).match(request.head())) + "\n";
      }
    }
  }
  return text;
}

}  // namespace sluice::compile::test
