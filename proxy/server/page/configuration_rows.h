// The rows of the live page that follow from the configuration alone: what is wrong with it, Gateways and listeners,
// certificates, and the names of routes. They are made again only when the configuration or its state changes.
//
// Pure functions.
#pragma once

#include <string>
#include <vector>

#include "proxy/base/clock.h"
#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/report/configuration_change.h"
#include "proxy/control/report/counted_objects.h"
#include "proxy/control/state/revisions.h"
#include "proxy/server/page/row_writer.h"

namespace sluice::server {

struct RouteName {
  std::string name;  // "namespace/name"
  std::string kind;
};

/// Something that is not as it should be.
struct Trouble {
  bool isError = true;
  std::string object = {};
  std::string field = {};
  std::string place = {};  // "file:line", or the type of a condition
  std::string reason = {};
  std::string message = {};
  base::WallTime since{};  // the epoch if it is not known
};

std::string troubleRow(const Trouble& trouble);

/// Returns the troubles of the configuration, errors first. A refusal of the desired revision comes before all others.
std::vector<Trouble> configurationTroubles(const control::CompiledConfiguration& known,
                                           const control::Revisions& revisions, control::CountedObjects counted);
PageRows listenerRows(const control::CompiledConfiguration& known, control::CountedObjects counted);
/// Returns the routes by their names.
std::vector<RouteName> routeNames(const control::CompiledConfiguration& known, control::CountedObjects counted);
/// Returns the certificates that the configuration names and the TLS peers of its Backends; those that end first come
/// first.
PageRows certificateRows(const control::CompiledConfiguration& known, base::WallTime now);
PageRows changeRows(const std::vector<control::ConfigurationChange>& changes);

}  // namespace sluice::server
