#include "proxy/kubernetes/status/status_patch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "proxy/content/json.h"
#include "proxy/kubernetes/client/api_forms.h"
#include "test/base/some_time.h"

namespace sluice::kubernetes {
namespace {

using config::ConditionStatus;
using config::ObjectStatus;
using config::StatusShape;
using content::Value;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr std::string_view kHead = R"({"metadata":{"resourceVersion":"7"},"status":)";

config::Condition acceptedAs(ConditionStatus status = ConditionStatus::kTrue, std::string message = "") {
  return {"Accepted", status, "Accepted", std::move(message), 3};
}

ObjectStatus plain(std::vector<config::Condition> conditions) {
  ObjectStatus status;
  status.kind = "PayloadProcessingPipeline";
  status.shape = StatusShape::kConditions;
  status.conditions = std::move(conditions);
  return status;
}

config::ParentStatus parent(std::string name) {
  config::ParentStatus one;
  one.parentRef.object.group = "gateway.networking.k8s.io";
  one.parentRef.object.kind = "Gateway";
  one.parentRef.object.name = std::move(name);
  one.conditions.push_back(acceptedAs());
  return one;
}

ObjectStatus routeOf(const std::vector<std::string>& parents, StatusShape shape = StatusShape::kParents) {
  ObjectStatus status;
  status.kind = "HTTPRoute";
  status.shape = shape;
  for (const std::string& each : parents) status.parents.push_back(parent(each));
  return status;
}

Value parsed(std::string_view text) {
  base::Result<Value> value = content::parseJson(text, {text.size(), 64});
  EXPECT_TRUE(value.ok()) << text;
  return value.ok() ? *value : Value();
}

/// Returns the result of a merge patch (RFC 7396) on `target`.
Value patched(Value target, const Value& patch) {
  if (!patch.isMap()) return patch;
  if (!target.isMap()) target = parsed("{}");
  for (const content::Member& each : patch.members) {
    const auto found = std::find_if(target.members.begin(), target.members.end(),
                                    [&](const content::Member& member) { return member.key == each.key; });
    if (found == target.members.end()) {
      target.members.push_back({each.key, {}, patched({}, each.value)});
    } else {
      found->value = patched(found->value, each.value);
    }
  }
  return target;
}

/// An object's status at an API server.
class ServerStatus {
 public:
  explicit ServerStatus(std::string_view text = "{}", const std::set<std::string>& gateways = {})
      : status_(parsed(text)), gateways_(gateways) {}

  /// Returns true if something had to be written.
  bool apply(const ObjectStatus& wanted, base::Duration later = 0s) {
    return take(statusPatch(wanted, &status_, "7", own_, base::someTime(later)));
  }
  bool remove(StatusShape shape) { return take(withoutOurs(shape, &status_, "7", own_)); }
  std::string text() const { return content::writeJson(status_); }

  const std::vector<Value>& list(std::string_view key) const { return status_.find(key)->items; }
  std::vector<std::string> each(std::string_view list, std::string_view key) const {
    std::vector<std::string> all;
    for (const Value& entry : status_.find(list)->items) all.emplace_back(textIn(&entry, key));
    return all;
  }
  /// Returns "controller:parent" for each entry.
  std::vector<std::string> parents(std::string_view list = "parents", std::string_view reference = "parentRef") const {
    std::vector<std::string> all;
    for (const Value& entry : status_.find(list)->items) {
      all.push_back(std::string(textIn(&entry, "controllerName").substr(0, 3)) + ":" +
                    std::string(textIn(valueIn(&entry, reference), "name")));
    }
    return all;
  }

 private:
  bool take(const std::optional<std::string>& patch) {
    if (!patch) return false;
    EXPECT_TRUE(patch->starts_with(kHead)) << *patch;
    status_ = patched(std::move(status_), *parsed(*patch).find("status"));
    return true;
  }

  Value status_;
  const std::set<std::string> gateways_;
  const OwnEntries own_{"demo", &gateways_};
};

TEST(StatusPatch, IsAMergePatchThatAConflictMakesFail) {
  EXPECT_EQ(statusPatch(plain({acceptedAs()}), nullptr, "7", {}, base::someTime(250ms)),
            std::string(kHead) +
                R"({"conditions":[{"type":"Accepted","status":"True","reason":"Accepted","message":"",)"
                R"("observedGeneration":3,"lastTransitionTime":"2026-01-31T23:59:58Z"}]}})");
}

TEST(StatusPatch, IsNotNeededIfTheStatusSaysItAlready) {
  for (const StatusShape shape : {StatusShape::kConditions, StatusShape::kGateway, StatusShape::kParents,
                                  StatusShape::kAncestors, StatusShape::kControllers}) {
    ObjectStatus wanted = routeOf({"a", "b"}, shape);
    wanted.conditions.push_back(acceptedAs());
    wanted.listeners.push_back({"web", 2, {{"gateway.networking.k8s.io", "HTTPRoute"}}, {acceptedAs()}});
    wanted.addresses.push_back({"IPAddress", "127.0.0.9"});
    wanted.controllers.push_back({std::string(config::kControllerName), {acceptedAs()}});
    ServerStatus server;
    EXPECT_TRUE(server.apply(wanted));
    const std::string written = server.text();
    EXPECT_FALSE(server.apply(wanted, 10s));
    EXPECT_EQ(server.text(), written);
  }
}

TEST(StatusPatch, DoesNotCareForTheOrderOfMembersOrForEmptyLists) {
  const Value current =
      parsed(R"({"conditions":[{"lastTransitionTime":"2026-01-01T00:00:00Z","observedGeneration":3,"message":"",)"
             R"("reason":"Accepted","type":"Accepted","status":"True"}]})");
  EXPECT_EQ(statusPatch(plain({acceptedAs()}), &current, "7", {}, base::someTime()), std::nullopt);
  EXPECT_EQ(statusPatch(routeOf({}), nullptr, "7", {}, base::someTime()), std::nullopt);
}

TEST(StatusPatch, IsNeededForEveryMemberOfACondition) {
  const auto isNeeded = [](const auto& change) {
    ServerStatus server;
    server.apply(plain({acceptedAs()}));
    config::Condition other = acceptedAs();
    change(other);
    return server.apply(plain({other}));
  };
  EXPECT_FALSE(isNeeded([](config::Condition&) {}));
  EXPECT_FALSE(isNeeded([](config::Condition& each) { each.lastTransitionTime = base::someTime(1h); }));
  EXPECT_TRUE(isNeeded([](config::Condition& each) { each.status = ConditionStatus::kUnknown; }));
  EXPECT_TRUE(isNeeded([](config::Condition& each) { each.reason = "Other"; }));
  EXPECT_TRUE(isNeeded([](config::Condition& each) { each.message = "other"; }));
  EXPECT_TRUE(isNeeded([](config::Condition& each) { each.observedGeneration = 4; }));
  EXPECT_TRUE(isNeeded([](config::Condition& each) { each.observedGeneration = std::nullopt; }));
}

TEST(StatusPatch, KeepsTheTimeOfAConditionUntilItsStatusChanges) {
  const auto time = [](const ServerStatus& server) { return server.each("conditions", "lastTransitionTime")[0]; };
  ServerStatus server;
  server.apply(plain({acceptedAs()}));
  EXPECT_TRUE(server.apply(plain({acceptedAs(ConditionStatus::kTrue, "other")}), 5s));
  EXPECT_EQ(time(server), "2026-01-31T23:59:58Z");
  server.apply(plain({acceptedAs(ConditionStatus::kFalse)}), 6s);
  EXPECT_EQ(time(server), "2026-02-01T00:00:04Z");
  config::Condition known = acceptedAs();
  known.lastTransitionTime = base::someTime(3500ms);
  server.apply(plain({known}), 9s);
  EXPECT_EQ(time(server), "2026-02-01T00:00:01Z");
}

TEST(StatusPatch, ReplacesOurConditionsInPlaceAndLeavesOthers) {
  ServerStatus server(
      R"({"conditions":[{"type":"Theirs","status":"False"},{"type":"Accepted","status":"Unknown","reason":"Pending",)"
      R"("message":"Waiting for controller","lastTransitionTime":"1970-01-01T00:00:00Z"},)"
      R"({"type":"Programmed","status":"Unknown"},{"type":"sluice.dev/Old","status":"True"},{"type":"Last"}],)"
      R"("attachedListenerSets":4})");
  ObjectStatus wanted = plain({acceptedAs(), {"ResolvedRefs", ConditionStatus::kTrue, "ResolvedRefs", "", 3}});
  wanted.shape = StatusShape::kGateway;
  EXPECT_TRUE(server.apply(wanted));
  EXPECT_THAT(server.each("conditions", "type"), ElementsAre("Theirs", "Accepted", "Last", "ResolvedRefs"));
  EXPECT_EQ(server.each("conditions", "lastTransitionTime")[1], "2026-01-31T23:59:58Z");
  EXPECT_THAT(server.text(), HasSubstr(R"("attachedListenerSets":4)"));
  EXPECT_THAT(server.text(), HasSubstr(R"({"type":"Theirs","status":"False"})"));
}

TEST(StatusPatch, CutsOurLastConditionsAtTheBoundAndNeverThoseOfOthers) {
  std::string current = R"({"conditions":[)";
  for (int i = 0; i < 6; ++i) current += (i == 0 ? "" : ",") + (R"({"type":"T)" + std::to_string(i)) + R"("})";
  ServerStatus server(current + "]}");
  std::vector<config::Condition> three = {acceptedAs(), acceptedAs(), acceptedAs()};
  three[1].type = "Programmed";
  three[2].type = "ResolvedRefs";
  EXPECT_TRUE(server.apply(plain({three[0], three[1]})));
  EXPECT_THAT(server.list("conditions"), SizeIs(8));
  EXPECT_FALSE(server.apply(plain(three)));
  EXPECT_THAT(server.each("conditions", "type"),
              ElementsAre("T0", "T1", "T2", "T3", "T4", "T5", "Accepted", "Programmed"));
}

TEST(StatusPatch, HasMoreConditionsInOurOwnKinds) {
  ObjectStatus wanted = plain({});
  for (int i = 0; i < 40; ++i) wanted.conditions.push_back(acceptedAs());
  for (int i = 0; i < 40; ++i) wanted.conditions[i].type = "extension.sluice.dev/" + std::to_string(i);
  wanted.parents.push_back(parent("a"));
  wanted.parents[0].conditions = wanted.conditions;
  for (const auto& [group, most] : {std::pair(config::kOwnGroup, 32u), std::pair(config::kGatewayGroup, 8u)}) {
    wanted.group = group;
    wanted.shape = StatusShape::kConditions;
    ServerStatus server;
    EXPECT_TRUE(server.apply(wanted));
    EXPECT_THAT(server.list("conditions"), SizeIs(most));
    EXPECT_FALSE(server.apply(wanted));
    wanted.shape = StatusShape::kAncestors;
    EXPECT_TRUE(server.apply(wanted));
    EXPECT_THAT(server.list("ancestors")[0].find("conditions")->items, SizeIs(most));
  }
}

TEST(StatusPatch, LeavesParentsOfOtherControllersUntouchedInTheirPlaces) {
  const std::string theirs = R"({"x":1.50,"controllerName":"other.io/c","parentRef":{"name":"a"},"conditions":[]})";
  ServerStatus server("{\"parents\":[" + theirs + "]}");
  EXPECT_TRUE(server.apply(routeOf({"a", "b"})));
  EXPECT_THAT(server.parents(), ElementsAre("oth:a", "slu:a", "slu:b"));
  EXPECT_TRUE(server.apply(routeOf({"b", "c"})));
  EXPECT_THAT(server.parents(), ElementsAre("oth:a", "slu:b", "slu:c"));
  EXPECT_FALSE(server.apply(routeOf({"c", "b"})));
  EXPECT_THAT(server.text(), HasSubstr(theirs));
  EXPECT_TRUE(server.apply(routeOf({})));
  EXPECT_EQ(server.text(), "{\"parents\":[" + theirs + "]}");
  EXPECT_FALSE(server.apply(routeOf({})));
}

TEST(StatusPatch, LeavesParentsToTheControllerThatServesThem) {
  const std::string theirs =
      R"({"controllerName":"sluice.dev/egress-gateway","parentRef":{"kind":"Gateway","name":"b"},"conditions":[]})";
  const std::string elsewhere =
      R"({"controllerName":"sluice.dev/egress-gateway","parentRef":{"namespace":"far","name":"a"},"conditions":[]})";
  const std::string stale =
      R"({"controllerName":"sluice.dev/egress-gateway","parentRef":{"namespace":"demo","name":"c"},"conditions":[]})";
  ServerStatus server("{\"parents\":[" + theirs + "," + elsewhere + "," + stale + "]}", {"demo/a", "demo/c"});
  EXPECT_TRUE(server.apply(routeOf({"a"})));
  EXPECT_THAT(server.parents(), ElementsAre("slu:b", "slu:a", "slu:a"));
  EXPECT_THAT(server.text(), AllOf(HasSubstr(theirs), HasSubstr(elsewhere)));
  EXPECT_FALSE(server.apply(routeOf({"a"})));
  EXPECT_TRUE(server.remove(StatusShape::kParents));
  EXPECT_EQ(server.text(), "{\"parents\":[" + theirs + "," + elsewhere + "]}");
}

TEST(StatusPatch, TellsParentsApartByTheWholeReference) {
  ServerStatus server;
  ObjectStatus wanted = routeOf({"a"});
  server.apply(wanted);
  for (int part = 0; part < 3; ++part) {
    if (part == 0) wanted.parents[0].parentRef.sectionName = "web";
    if (part == 1) wanted.parents[0].parentRef.port = 80;
    if (part == 2) wanted.parents[0].parentRef.object.nameSpace = "demo";
    EXPECT_TRUE(server.apply(wanted, 1min * (part + 1)));
    EXPECT_THAT(server.list("parents"), SizeIs(1));
    EXPECT_THAT(server.text(), HasSubstr(apiTime(base::someTime(1min * (part + 1)))));
  }
}

TEST(StatusPatch, CutsOurLastParentsAtTheBoundAndNeverThoseOfOthers) {
  const auto withOthers = [](int count, std::string_view list, std::string_view reference) {
    std::string text = "{\"" + std::string(list) + "\":[";
    for (int i = 0; i < count; ++i) {
      text += (i == 0 ? "" : ",") + (R"({"controllerName":"o","conditions":[],")" + std::string(reference)) +
              R"(":{"name":"x)" + std::to_string(i) + "\"}}";
    }
    return ServerStatus(text + "]}");
  };
  ServerStatus server = withOthers(30, "parents", "parentRef");
  EXPECT_TRUE(server.apply(routeOf({"a", "b", "c"})));
  EXPECT_THAT(server.list("parents"), SizeIs(32));
  EXPECT_EQ(server.parents().back(), "slu:b");
  EXPECT_FALSE(server.apply(routeOf({"a", "b", "c"})));
  EXPECT_FALSE(withOthers(32, "parents", "parentRef").apply(routeOf({"a"})));
  ServerStatus policy = withOthers(15, "ancestors", "ancestorRef");
  EXPECT_TRUE(policy.apply(routeOf({"a", "b"}, StatusShape::kAncestors)));
  EXPECT_THAT(policy.list("ancestors"), SizeIs(16));
  EXPECT_EQ(policy.parents("ancestors", "ancestorRef").back(), "slu:a");
}

TEST(StatusPatch, ReplacesOurEntryAmongTheControllersOfABackend) {
  ObjectStatus wanted;
  wanted.shape = StatusShape::kControllers;
  wanted.controllers.push_back({std::string(config::kControllerName), {acceptedAs()}});
  ServerStatus server(R"({"controllers":[{"name":"a"},{"name":"sluice.dev/egress-gateway","conditions":[]},)"
                      R"({"name":"sluice.dev/egress-gateway"},{"name":"b"}]})");
  EXPECT_TRUE(server.apply(wanted));
  EXPECT_THAT(server.each("controllers", "name"), ElementsAre("a", "sluice.dev/egress-gateway", "b"));
  EXPECT_THAT(server.list("controllers")[1].find("conditions")->items, SizeIs(1));
  std::string full = R"({"controllers":[)";
  for (int i = 0; i < 8; ++i) full += (i == 0 ? "" : ",") + (R"({"name":"c)" + std::to_string(i)) + "\"}";
  EXPECT_FALSE(ServerStatus(full + "]}").apply(wanted));
}

TEST(StatusPatch, HasAttachedRoutesAndAddressesOfAGateway) {
  ObjectStatus wanted = plain({acceptedAs()});
  wanted.shape = StatusShape::kGateway;
  wanted.listeners.push_back({"web", 1, {{"gateway.networking.k8s.io", "HTTPRoute"}}, {acceptedAs()}});
  for (int i = 0; i < 17; ++i) wanted.addresses.push_back({"IPAddress", "127.0.0." + std::to_string(i)});
  ServerStatus server;
  EXPECT_TRUE(server.apply(wanted));
  EXPECT_THAT(server.list("addresses"), SizeIs(16));
  EXPECT_EQ(server.each("addresses", "value").back(), "127.0.0.15");
  EXPECT_FALSE(server.apply(wanted));
  wanted.listeners[0].attachedRoutes = 2;
  const Value current = parsed(server.text());
  const std::string patch = statusPatch(wanted, &current, "7", {}, base::someTime(1h)).value_or("");
  EXPECT_THAT(patch, HasSubstr(R"({"name":"web","attachedRoutes":2,)"));
  EXPECT_THAT(patch, HasSubstr("2026-01-31T23:59:58Z"));
  EXPECT_THAT(patch, Not(HasSubstr("addresses")));
  wanted.listeners.clear();
  wanted.addresses.clear();
  EXPECT_TRUE(server.apply(wanted));
  EXPECT_THAT(server.list("listeners"), IsEmpty());
  EXPECT_THAT(server.list("addresses"), IsEmpty());
}

TEST(StatusPatch, HasTheFeaturesOfAGatewayClassByName) {
  ObjectStatus wanted = plain({acceptedAs()});
  wanted.kind = config::GatewayClass::kKind;
  wanted.supportedFeatures = {"HTTPRoute", "Gateway", "HTTPRoute", "Z"};
  ServerStatus server;
  EXPECT_TRUE(server.apply(wanted));
  EXPECT_THAT(server.each("supportedFeatures", "name"), ElementsAre("Gateway", "HTTPRoute", "Z"));
  for (int i = 0; i < 65; ++i) wanted.supportedFeatures.push_back("F" + std::to_string(100 + i));
  EXPECT_TRUE(server.apply(wanted));
  EXPECT_THAT(server.list("supportedFeatures"), SizeIs(64));
  EXPECT_FALSE(server.apply(wanted));
}

TEST(StatusPatch, CutsLongMessagesAtACharacter) {
  std::string message(32767, 'a');
  message += "\xc3\xa4";
  ServerStatus server;
  EXPECT_TRUE(server.apply(plain({acceptedAs(ConditionStatus::kTrue, message)})));
  const std::string cut = server.each("conditions", "message")[0];
  EXPECT_EQ(cut, std::string(32765, 'a') + "\xe2\x80\xa6");
  EXPECT_FALSE(server.apply(plain({acceptedAs(ConditionStatus::kTrue, message)})));
  message.pop_back();
  message.back() = 'b';
  EXPECT_TRUE(server.apply(plain({acceptedAs(ConditionStatus::kTrue, message)})));
  EXPECT_EQ(server.each("conditions", "message")[0], message);
}

TEST(StatusPatch, StaysBelowWhatTheServerTakesWhateverTheMessages) {
  ObjectStatus wanted;
  wanted.shape = StatusShape::kParents;
  for (int i = 0; i < 32; ++i) {
    config::ParentStatus one = parent("p" + std::to_string(i));
    for (int k = 0; k < 7; ++k) one.conditions.push_back(acceptedAs(ConditionStatus::kTrue, std::string(40000, '"')));
    wanted.parents.push_back(std::move(one));
  }
  const std::string patch = statusPatch(wanted, nullptr, "7", {}, base::someTime()).value_or("");
  EXPECT_GT(patch.size(), 400000u);
  EXPECT_LT(patch.size(), 1024u * 1024 + 64 * 1024);
}

TEST(StatusPatch, OverwritesWhatHasTheWrongForm) {
  for (const char* current : {R"({"parents":null})", R"({"parents":{}})", R"({"parents":"x"})", R"(null)", R"([])"}) {
    ServerStatus server(current);
    EXPECT_TRUE(server.apply(routeOf({"a"}))) << current;
    EXPECT_THAT(server.parents(), ElementsAre("slu:a"));
  }
}

TEST(StatusPatch, RemovesOurEntriesFromObjectsThatWeSayNothingAbout) {
  for (const auto& [shape, list, ref] : {std::tuple(StatusShape::kParents, "parents", "parentRef"),
                                         std::tuple(StatusShape::kAncestors, "ancestors", "ancestorRef")}) {
    ServerStatus server("{\"" + std::string(list) + R"(":[{"controllerName":"other.io/c",")" + ref +
                        R"(":{"name":"a"}}]})");
    const std::string before = server.text();
    EXPECT_FALSE(server.remove(shape));
    server.apply(routeOf({"a", "b"}, shape));
    EXPECT_TRUE(server.remove(shape));
    EXPECT_EQ(server.text(), before);
  }
  ServerStatus backend(R"({"controllers":[{"name":"sluice.dev/egress-gateway"},{"name":"b"}]})");
  EXPECT_TRUE(backend.remove(StatusShape::kControllers));
  EXPECT_EQ(backend.text(), R"({"controllers":[{"name":"b"}]})");
  EXPECT_EQ(withoutOurs(StatusShape::kParents, nullptr, "7", {}), std::nullopt);
}

TEST(StatusPatch, LeavesConditionsThatAnotherControllerMayHaveWritten) {
  ServerStatus server(R"({"conditions":[{"type":"Accepted"},{"type":"sluice.dev/Replicas"},{"type":"asluice.dev/A"},)"
                      R"({"type":"extension.sluice.dev/key"},{"type":"sluice.dev"},{"type":"a.sluice.devs/A"}]})");
  EXPECT_TRUE(server.remove(StatusShape::kGateway));
  EXPECT_THAT(server.each("conditions", "type"),
              ElementsAre("Accepted", "asluice.dev/A", "sluice.dev", "a.sluice.devs/A"));
  EXPECT_FALSE(server.remove(StatusShape::kConditions));
}

}  // namespace
}  // namespace sluice::kubernetes
