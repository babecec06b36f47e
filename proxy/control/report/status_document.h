// The documents of the admin port that show which configuration is served.
#pragma once

#include <string>
#include <string_view>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/report/counted_objects.h"
#include "proxy/control/report/endpoint_list.h"
#include "proxy/control/state/revisions.h"

namespace sluice::control {

/// Returns {"desired", "published", "served", "state", "degraded", "since", "zone", "problems", "faultyObjects",
/// "objects", "endpoints"}: the admin document /status. `configuration` is the served one, or else the one that was
/// read last. A long list of problems is cut, with a note. `zone` is that of the gateway, and absent if it is empty.
/// "degraded" and "faultyObjects" have the `counted` objects alone.
std::string statusDocument(const CompiledConfiguration& configuration, const Revisions& revisions,
                           std::string_view zone = {}, const ListedEndpoints& endpoints = {},
                           CountedObjects counted = CountedObjects::kAll);
/// Returns {"valid", "state", "desired", "served", "problems", "objects"}: the verdict about `configuration`, as if the
/// process got it. `refusal` is the reason why it would not be served although it is valid; else it is empty.
std::string verdictDocument(const CompiledConfiguration& configuration, const std::string& refusal);

}  // namespace sluice::control
