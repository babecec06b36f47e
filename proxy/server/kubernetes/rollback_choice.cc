#include "proxy/server/kubernetes/rollback_choice.h"

#include <algorithm>

#include "proxy/kubernetes/client/api_forms.h"
#include "proxy/kubernetes/revisions/egress_revision.h"

namespace sluice::server {
namespace {

bool isIn(const ListedRevision& revision, kubernetes::RevisionState state) {
  return revision.state == kubernetes::revisionStateName(state);
}

std::string theGateway(const RollbackOptions& options) { return "Gateway " + options.gateway; }

/// Returns the revision that the options name, or nullptr with the reason.
const ListedRevision* findNamed(const std::vector<ListedRevision>& ofGateway, const RollbackOptions& options,
                                std::string& reason) {
  const ListedRevision* found = nullptr;
  for (const ListedRevision& each : ofGateway) {
    if (!each.revision.starts_with(options.revision) && each.name != options.revision) continue;
    if (found != nullptr) {
      reason = "several revisions of " + theGateway(options) + " begin with '" + options.revision + "'";
      return nullptr;
    }
    found = &each;
  }
  if (found == nullptr) reason = theGateway(options) + " has no revision '" + options.revision + "'";
  if (found != nullptr && isIn(*found, kubernetes::RevisionState::kTainted)) {
    reason = "revision " + found->revision + " is tainted: all replicas have refused it. Delete EgressRevision " +
             found->name + " to have it tried again";
    return nullptr;
  }
  if (found != nullptr && found->state.empty()) {
    reason = "no replica of " + theGateway(options) + " has reported EgressRevision " + found->name +
             " to a controller, so none would serve it";
    return nullptr;
  }
  return found;
}

/// Returns the revision that was served last, but before the active one if there is one.
const ListedRevision* findServedBefore(const std::vector<ListedRevision>& ofGateway, const RollbackOptions& options,
                                       std::string& reason) {
  const ListedRevision* active = nullptr;
  for (const ListedRevision& each : ofGateway) {
    if (each.active && (active == nullptr || each.created > active->created)) active = &each;
  }
  const ListedRevision* found = nullptr;
  for (const ListedRevision& each : ofGateway) {
    if (!isIn(each, kubernetes::RevisionState::kSuperseded) || each.lastServed.empty()) continue;
    if (active != nullptr && each.created >= active->created) continue;
    if (found == nullptr || each.lastServed > found->lastServed) found = &each;
  }
  if (found == nullptr) reason = theGateway(options) + " has no revision that was served before";
  return found;
}

}  // namespace

std::vector<ListedRevision> readRevisionTable(const content::Value& table) {
  std::vector<std::string> columns;
  if (const content::Value* definitions = kubernetes::valueIn(&table, "columnDefinitions"); definitions != nullptr) {
    for (const content::Value& each : definitions->items) columns.emplace_back(kubernetes::textIn(&each, "name"));
  }
  std::vector<ListedRevision> all;
  const content::Value* rows = kubernetes::valueIn(&table, "rows");
  if (rows == nullptr) return all;
  for (const content::Value& row : rows->items) {
    const content::Value* cells = kubernetes::valueIn(&row, "cells");
    if (cells == nullptr) continue;
    const auto cell = [&](std::string_view column) {
      const auto at = static_cast<std::size_t>(std::find(columns.begin(), columns.end(), column) - columns.begin());
      return at < cells->items.size() ? cells->items[at].text : std::string();
    };
    const content::Value* metadata = kubernetes::valueIn(kubernetes::valueIn(&row, "object"), "metadata");
    all.push_back({cell("Name"), cell("Gateway"), cell("Revision"), cell("State"), cell("Last Served"),
                   std::string(kubernetes::textIn(metadata, "creationTimestamp")), cell("Active") == "true"});
  }
  return all;
}

base::Result<RollbackChoice> chooseRevision(const std::vector<ListedRevision>& all, const RollbackOptions& options) {
  std::vector<ListedRevision> ofGateway;
  const std::string name = options.gateway.substr(options.gateway.find('/') + 1);
  std::copy_if(all.begin(), all.end(), std::back_inserter(ofGateway),
               [&](const ListedRevision& each) { return each.gateway == name; });
  RollbackChoice choice;
  if (!options.undo) {
    std::string reason;
    const ListedRevision* chosen =
        options.revision.empty() ? findServedBefore(ofGateway, options, reason) : findNamed(ofGateway, options, reason);
    if (chosen == nullptr) {
      return base::Error::config(reason + "; `kubectl get egressrevisions --namespace " +
                                 options.gateway.substr(0, options.gateway.find('/')) + "` lists them");
    }
    choice.activate = chosen->name;
  }
  for (const ListedRevision& each : ofGateway) {
    if (each.active && each.name != choice.activate) choice.deactivate.push_back(each.name);
  }
  if (options.undo && choice.deactivate.empty()) {
    return base::Error::config("no revision of " + theGateway(options) + " is active");
  }
  return choice;
}

}  // namespace sluice::server
