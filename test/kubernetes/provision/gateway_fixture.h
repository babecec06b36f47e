// A Gateway for tests of provisioning, and a view of the objects.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/load/load.h"
#include "proxy/content/json.h"
#include "proxy/kubernetes/provision/gateway_to_run.h"

namespace sluice::kubernetes {

/// A configuration with one Gateway, and that as it is provisioned.
struct RunGateway {
  explicit RunGateway(const std::string& spec, const std::string& name = "egress", const std::string& kind = "Gateway",
                      const std::string& apiVersion = "gateway.networking.k8s.io/v1") {
    config::TextCache cache;
    const std::string text = "apiVersion: " + apiVersion + "\nkind: " + kind +
                             "\nmetadata: {namespace: demo, name: " + name + "}\nspec: {gatewayClassName: sluice" +
                             spec + "}\n";
    const config::ObjectSet set =
        config::readTexts({config::SourceText{"a.yaml", text}}, {}, base::Secret("key"), cache);
    configuration = config::load(set, nullptr);
    EXPECT_EQ(configuration.model.all<config::Gateway>().size(), 1U) << text;
  }

  const config::Gateway& gateway() const { return configuration.model.all<config::Gateway>().at(0); }
  GatewayToRun run() const {
    return {.gateway = gateway(),
            .apiVersion = "gateway.networking.k8s.io/v1",
            .uid = "u-1",
            .parameters = parameters,
            .image = "example.com/sluice:1",
            .drainTimeout = std::chrono::seconds(25),
            .controllerNamespace = "sluice-system"};
  }

  config::Configuration configuration;
  config::GatewayParameters parameters;
};

inline const char* const kListenersOfTwoPorts =
    ", listeners: [{name: a, port: 80, protocol: HTTP}, {name: b, port: 8080, protocol: HTTP, hostname: b.test}, "
    "{name: c, port: 8080, protocol: HTTP}]";

/// Returns the value at a path such as "spec|ports|0|port", in JSON; empty if there is none.
inline std::string fieldAt(const ProvisionedObject& object, std::string_view path) {
  const auto parsed = content::parseJson(object.body, {.bytes = 1 << 20});
  EXPECT_TRUE(parsed.ok()) << object.body;
  if (!parsed.ok()) return {};
  const content::Value* value = &*parsed;
  while (!path.empty() && value != nullptr) {
    const std::string step(path.substr(0, path.find('|')));
    path.remove_prefix(std::min(path.size(), step.size() + 1));
    if (value->isList()) {
      const std::size_t index = std::stoul(step);
      value = index < value->items.size() ? &value->items[index] : nullptr;
    } else {
      value = value->find(step);
    }
  }
  if (value == nullptr) return {};
  return value->isString() ? value->text : content::writeJson(*value);
}

inline const ProvisionedObject& only(const std::vector<ProvisionedObject>& objects, const ProvisionedKind& kind) {
  static const ProvisionedObject kNone;
  const ProvisionedObject* found = &kNone;
  for (const ProvisionedObject& each : objects) {
    if (each.kind == &kind) found = &each;
  }
  EXPECT_NE(found, &kNone) << kind.kind;
  return *found;
}

}  // namespace sluice::kubernetes
