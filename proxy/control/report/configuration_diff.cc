#include "proxy/control/report/configuration_diff.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "proxy/content/output/make_value.h"
#include "proxy/control/report/egress_diff.h"
#include "proxy/control/state/generation.h"

namespace sluice::control {
namespace {

using Kind = ConfigurationChange::Kind;

/// The things of one kind in a configuration: their names, and a text that differs if they do.
using NamedTexts = std::map<std::string, std::string>;

struct ChangeDetails {
  std::string added;
  std::string removed;
  std::string changed;
};

/// Adds the removed and changed entries, and then the added ones, with these details; without details, it uses the
/// texts.
void compare(const NamedTexts& before, const NamedTexts& after, const std::string& what,
             const std::optional<ChangeDetails>& details, std::vector<ConfigurationChange>& changes) {
  for (const auto& [name, text] : before) {
    const auto found = after.find(name);
    if (found == after.end()) {
      changes.push_back({Kind::kRemoved, what, name, details ? details->removed : text});
    } else if (found->second != text) {
      changes.push_back({Kind::kChanged, what, name, details ? details->changed : text + " -> " + found->second});
    }
  }
  for (const auto& [name, text] : after) {
    if (!before.contains(name)) changes.push_back({Kind::kAdded, what, name, details ? details->added : text});
  }
}

NamedTexts objectTexts(const config::ObjectSet& set) {
  NamedTexts objects;
  for (const auto& readings : set.readings) {
    for (const config::ObjectReading& reading : *readings) {
      if (!reading.revision) continue;
      const std::string group = reading.identity.group.empty() ? "" : " (" + reading.identity.group + ")";
      objects.emplace(reading.identity.kind + " " + reading.identity.qualifiedName() + group,
                      pki::toHex(reading.revision->digest));
    }
  }
  return objects;
}

/// Returns the sockets, with the certificates that they have.
NamedTexts socketsOf(const routing::Snapshot& snapshot) {
  NamedTexts sockets;
  for (const routing::Bind& bind : snapshot.binds) {
    std::string identities = bind.tls ? "TLS" : "";
    for (const routing::ListenerIdentity& each : bind.identities) identities += " " + each.certificate->fingerprint();
    sockets.emplace((bind.address.empty() ? "*" : bind.address) + ":" + std::to_string(bind.port), identities);
  }
  return sockets;
}

NamedTexts backendsOf(const routing::Snapshot& snapshot) {
  NamedTexts backends;
  for (const auto& backend : snapshot.backends) {
    backends[backend->name + ":" + std::to_string(backend->port)] += backend->identity.text();
  }
  return backends;
}

/// Returns the conditions of all objects that report a problem, as "HTTPRoute demo/web: parent demo/egress: Accepted".
NamedTexts conditionTexts(const config::StatusList& objects) {
  NamedTexts all;
  for (const config::ObjectStatus& object : objects) {
    for (const auto& [where, conditions] : config::conditionsOf(object)) {
      for (const config::Condition& each : *conditions) {
        if (!config::isTrouble(each.type, config::conditionStatusName(each.status))) continue;
        all[config::objectName(object) + ": " + (where.empty() ? "" : where + ": ") + each.type] =
            std::string(config::conditionStatusName(each.status)) + ", " + each.reason +
            (each.message.empty() ? "" : ": " + each.message);
      }
    }
  }
  return all;
}

NamedTexts problemTexts(const config::Problems& problems) {
  NamedTexts all;
  for (const config::Problem& each : problems) all[each.object + ": " + each.field] = each.message;
  return all;
}

std::string_view changeName(Kind kind) {
  switch (kind) {
    case Kind::kAdded:
      return "added";
    case Kind::kRemoved:
      return "removed";
    case Kind::kChanged:
      break;
  }
  return "changed";
}

}  // namespace

std::vector<ConfigurationChange> changesOf(const CompiledConfiguration& before, const CompiledConfiguration& after) {
  std::vector<ConfigurationChange> changes;
  compare(objectTexts(before.set), objectTexts(after.set), "object", ChangeDetails(), changes);
  if (after.usable()) {
    const routing::Snapshot& old = *before.compiled.snapshot;
    const routing::Snapshot& now = *after.compiled.snapshot;
    compare(socketsOf(old), socketsOf(now), "listener",
            ChangeDetails{"", "its clients' connections are drained",
                          "new connections get its new certificate, or other protocol"},
            changes);
    compare(backendsOf(old), backendsOf(now), "backend",
            ChangeDetails{"", "its idle connections are closed", "its connections are not used for new requests"},
            changes);
    if (!(old.settings == now.settings)) {
      changes.push_back({Kind::kChanged, "settings", "settings.yaml",
                         "workers, accessLog and dns take effect after a restart, all others at once"});
    }
    addPolicyChanges(before.model, after.model, changes);
    addVerdictChanges(old, now, changes);
  }
  compare(conditionTexts(before.compiled.statuses), conditionTexts(after.compiled.statuses), "problem", std::nullopt,
          changes);
  return changes;
}

void addProblemChanges(const config::Problems& before, const config::Problems& after,
                       std::vector<ConfigurationChange>& changes) {
  compare(problemTexts(before), problemTexts(after), "problem", std::nullopt, changes);
}

content::Output changesOutput(const std::vector<ConfigurationChange>& changes) {
  std::string text;
  const auto change = [&](const ConfigurationChange& each) {
    const char* sign = each.kind == Kind::kAdded ? "+ " : each.kind == Kind::kRemoved ? "- " : "~ ";
    text += sign + each.what + " " + each.name + (each.detail.empty() ? "" : ": " + each.detail) + "\n";
    return content::makeMap({{"change", changeName(each.kind)},
                             {"what", each.what},
                             {"name", each.name},
                             {"detail", content::ifAny(each.detail)}});
  };
  content::Value value = content::makeList(changes, change);
  text += changes.empty() ? "no differences\n"
                          : std::to_string(changes.size()) + (changes.size() == 1 ? " difference\n" : " differences\n");
  return {std::move(value), std::move(text)};
}

}  // namespace sluice::control
