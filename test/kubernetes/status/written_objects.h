// A controller's StatusWriter over an API server that a test plays: it lists a GatewayClass, a Gateway and HTTPRoutes,
// sends changes to all watches, and leaves each PATCH to the test.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/status/status_writer.h"
#include "test/base/some_time.h"
#include "test/kubernetes/client/api_rig.h"

namespace sluice::kubernetes {

class WrittenObjects final : private FleetFacts {
 public:
  struct PlayedRoute {
    int version = 1;
    std::string status = {};  // JSON; empty: none
    std::string nameSpace = "demo";
  };

  /// Lists these routes, "r0" and so on, of namespace "demo".
  explicit WrittenObjects(std::size_t routeCount = 1) {
    for (std::size_t i = 0; i < routeCount; ++i) routes["r" + std::to_string(i)] = {};
    objects = std::make_unique<ClusterObjects>(rig.client, ClusterScope{.withStatus = true});
    writer = std::make_unique<StatusWriter>(rig.client, *objects, static_cast<FleetFacts&>(*this), revisions,
                                            /*keepsPods=*/false);
    replicas_.trust({"sluice-system", {{"demo/egress", {}}}});
    rig.inTurn([this] { objects->start(); });
    serve();
  }
  ~WrittenObjects() {
    const net::Worker::Turn turn(rig.worker);
    writer.reset();
    objects.reset();
  }

  void lead(bool leads = true) {
    rig.inTurn([&] { writer->lead(leads); });
    serve();
  }
  /// Wants the routes of these names to be accepted, with a message.
  void want(const std::string& message, const std::vector<std::string>& names) {
    config::StatusList wanted;
    for (const std::string& name : names) wanted.push_back(statusOf(name, message, routes.at(name).nameSpace));
    want(wanted);
  }
  void want(const std::string& message) {
    std::vector<std::string> names;
    for (const auto& [name, route] : routes) names.push_back(name);
    want(message, names);
  }
  void want(const config::StatusList& wanted) {
    rig.inTurn([&] { writer->want(wanted); });
    serve();
  }

  /// Returns a configuration with a Gateway, and with routes that are accepted with a message.
  static control::CompiledConfiguration compiledWith(const std::string& message,
                                                     const std::vector<std::string>& names) {
    config::ObjectStatus gateway = statusOf("egress", message);
    gateway.kind = "Gateway";
    gateway.shape = config::StatusShape::kGateway;
    gateway.conditions = std::exchange(gateway.parents, {}).at(0).conditions;
    control::CompiledConfiguration compiled;
    compiled.readable = true;
    compiled.compiled.statuses.push_back(std::move(gateway));
    for (const std::string& name : names) compiled.compiled.statuses.push_back(statusOf(name, message));
    return compiled;
  }
  /// Hands the writer a configuration that was read and stands so.
  void compile(control::Standing standing, const std::string& message, const std::vector<std::string>& names) {
    revisions.standing = standing;
    rig.inTurn([&] { writer->onCompiled(compiledWith(message, names)); });
    serve();
  }
  /// Returns the patches of routes since the last call.
  std::string takeRoutePatches() {
    std::string patches;
    for (; taken_ < writes(); ++taken_) {
      if (writeTarget(taken_).find("/httproutes/") != std::string::npos)
        patches += nameOf(taken_) + patch(taken_) + "\n";
    }
    return patches;
  }

  /// Has the one replica report up to which version of routes it serves; at 0 it serves none, and 1 is what all of them
  /// have.
  void serveByReplica(std::uint64_t version) {
    ReplicaReport report;
    report.replica = "a";
    report.nameSpace = "demo";
    report.gateway = "demo/egress";
    report.seen["HTTPRoute"] = version;
    const auto lease = content::parseJson(replicaLease(report, base::someTime(std::chrono::seconds(version))));
    ASSERT_TRUE(lease.ok());
    ASSERT_TRUE(replicas_.see(*lease, rig.clock.now()).ok());
    rig.inTurn([this] { writer->judge(); });
    serve();
  }

  /// Changes a route, and sends it to all watches.
  void change(const std::string& name, std::string status) {
    PlayedRoute& route = routes[name];
    ++route.version;
    route.status = std::move(status);
    show("MODIFIED", name);
  }
  void remove(const std::string& name) {
    show("DELETED", name);
    routes.erase(name);
  }
  void show(const std::string& type, const std::string& name) {
    rig.send(watches_.at(kRoutes), R"({"type":")" + type + R"(","object":)" + textOf(name) + "}\n");
    serve();
  }

  // The writes in the order in which they came.
  std::size_t writes() const { return writes_.size(); }
  /// Returns the number of the last write of a route. Other objects may be written behind it.
  std::size_t lastRouteWrite() {
    std::size_t number = writes();
    while (number > 0 && writeTarget(number - 1).find("/httproutes/") == std::string::npos) --number;
    return number - 1;
  }
  std::string writeTarget(std::size_t number) { return rig.target(writes_.at(number)); }
  std::string patch(std::size_t number) { return rig.request(writes_.at(number)).body; }
  /// Executes a write, and sends it to the watches before or after the answer, or not yet.
  enum class Shown { kBefore, kAfter, kNotYet };
  void accept(std::size_t number, Shown shown = Shown::kAfter) {
    const std::string name = nameOf(number);
    const auto body = content::parseJson(patch(number), {});
    ASSERT_TRUE(body.ok());
    PlayedRoute& route = routes.at(name);
    ASSERT_EQ(textIn(valueIn(&*body, "metadata"), "resourceVersion"), std::to_string(route.version));
    ++route.version;
    route.status = content::writeJson(*valueIn(&*body, "status"));
    if (shown == Shown::kBefore) show("MODIFIED", name);
    answer(number, 200, textOf(name));
    if (shown == Shown::kAfter) show("MODIFIED", name);
  }
  /// Answers a write as a server that has made `status` of it, and shows that.
  void acceptAs(std::size_t number, const std::string& status) {
    const std::string name = nameOf(number);
    PlayedRoute& route = routes.at(name);
    ++route.version;
    route.status = status;
    answer(number, 200, textOf(name));
    show("MODIFIED", name);
  }
  void answer(std::size_t number, std::uint16_t status, std::string_view body,
              const sluice::test::FieldList& fields = {}) {
    rig.answer(writes_.at(number), status, body, fields);
    serve();
  }
  void refuse(std::size_t number, std::uint16_t status, const sluice::test::FieldList& fields = {}) {
    answer(number, status, statusBody(status, "no"), fields);
  }
  /// Lets time pass in which the watches stay alive.
  void advance(base::Duration by) {
    constexpr base::Duration kStep = std::chrono::seconds(30);
    for (; by > base::Duration::zero(); by -= kStep) {
      rig.advance(std::min(by, kStep));
      serve();
      for (const auto& [path, number] : watches_) {
        rig.send(number, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"1\"}}}\n");
      }
      serve();
    }
  }
  std::string nameOf(std::size_t number) {
    const std::string target = writeTarget(number);
    constexpr std::string_view kEnd = "/status";
    const std::string front = target.substr(0, target.size() - kEnd.size());
    return front.substr(front.rfind('/') + 1);
  }
  std::string textOf(const std::string& name) const {
    const PlayedRoute& route = routes.at(name);
    return R"({"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":")" + name +
           R"(","namespace":")" + route.nameSpace + R"(","resourceVersion":")" + std::to_string(route.version) +
           R"(","generation":1},"spec":{"parentRefs":[{"name":"egress","namespace":"demo"}]})" +
           (route.status.empty() ? "" : ",\"status\":" + route.status) + "}";
  }
  /// Returns the status that the writer sends for a route which it wants to be accepted.
  static config::ObjectStatus statusOf(const std::string& name, const std::string& message,
                                       const std::string& nameSpace = "demo") {
    config::ParentStatus parent;
    parent.parentRef.object.group = "gateway.networking.k8s.io";
    parent.parentRef.object.kind = "Gateway";
    parent.parentRef.object.name = "egress";
    parent.conditions.push_back({"Accepted", config::ConditionStatus::kTrue, "Accepted", message, 1});
    config::ObjectStatus status;
    status.group = "gateway.networking.k8s.io";
    status.kind = "HTTPRoute";
    status.nameSpace = nameSpace;
    status.name = name;
    status.shape = config::StatusShape::kParents;
    status.parents.push_back(std::move(parent));
    return status;
  }

  ApiRig rig;
  control::Revisions revisions;
  std::map<std::string, PlayedRoute> routes;
  std::unique_ptr<StatusWriter> writer;
  std::unique_ptr<ClusterObjects> objects;

 private:
  const ReplicaReports& reports() const override { return replicas_; }
  const ReachOfGateways& reach() const override { return reach_; }
  std::uint64_t changedAt(const config::ObjectStatus&) const override { return 1; }
  std::vector<config::AddressStatus> addressesOf(const config::ObjectStatus&) const override { return {}; }
  std::vector<config::Condition> conditionsOf(const config::ObjectStatus&) const override { return {}; }

  static constexpr const char* kGroup = "/apis/gateway.networking.k8s.io/v1";
  static constexpr const char* kRoutes = "/apis/gateway.networking.k8s.io/v1/httproutes";

  /// Answers all requests except writes.
  void serve() {
    for (; next_ < rig.requests(); ++next_) {
      const std::size_t number = next_;
      const std::string target = rig.target(number);
      if (rig.request(number).message.head.method == http::Method::kPatch) {
        writes_.push_back(number);
      } else if (target.find("sendInitialEvents") != std::string::npos) {
        rig.answer(number, 400, statusBody(400, "no streaming"));
      } else if (target.find("watch=true") != std::string::npos) {
        watches_[target.substr(0, target.find('?'))] = number;
        rig.begin(number);
      } else {
        rig.answer(number, 200, listOf(target.substr(0, target.find('?'))));
      }
    }
  }
  std::string listOf(const std::string& path) const {
    std::string items;
    if (path == std::string(kGroup) + "/gatewayclasses") {
      items = R"({"metadata":{"name":"sluice","resourceVersion":"1"},)"
              R"("spec":{"controllerName":"sluice.dev/egress-gateway"}})";
    } else if (path == std::string(kGroup) + "/gateways") {
      items = R"({"metadata":{"name":"egress","namespace":"demo","resourceVersion":"1"},)"
              R"("spec":{"gatewayClassName":"sluice"}})";
    } else if (path == kRoutes) {
      for (const auto& [name, route] : routes) items += (items.empty() ? "" : ",") + textOf(name);
    }
    return R"({"kind":"List","metadata":{"resourceVersion":"1"},"items":[)" + items + "]}";
  }

  const ReachOfGateways reach_{{{"demo/egress", {"demo"}}}};
  ReplicaReports replicas_;
  std::size_t next_ = 0;
  std::size_t taken_ = 0;
  std::vector<std::size_t> writes_;  // requests
  std::map<std::string, std::size_t> watches_;
};

}  // namespace sluice::kubernetes
