// Metrics of the state of the configuration, read from it when the page is requested.
#pragma once

#include <array>
#include <string>

#include "proxy/control/configuration/compiled_configuration.h"
#include "proxy/control/report/counted_objects.h"
#include "proxy/control/state/revisions.h"
#include "proxy/observe/exposition.h"

namespace sluice::control {

inline constexpr auto kConfigFamilies = std::to_array<observe::ReadFamily>({
    {observe::MetricKind::kGauge,
     "sluice_config_revision_info",
     {"desired", "published", "served"},
     "1, with the digests of the configuration that was read last, handed to the workers last, and is served."},
    {observe::MetricKind::kGauge,
     "sluice_config_last_good_reload_timestamp_seconds",
     {},
     "When the desired configuration was last found to be the served one, since the Unix epoch; 0 if it never was."},
    {observe::MetricKind::kGauge, "sluice_config_problems", {}, "Problems of the desired configuration."},
    {observe::MetricKind::kGauge,
     "sluice_config_objects",
     {"kind", "condition", "status"},
     "Objects by each condition that they have, in any of their parts, and its status."},
    {observe::MetricKind::kGauge,
     "sluice_config_degraded",
     {},
     "1 if an object of the configuration is not served as it is written, else 0."},
    {observe::MetricKind::kGauge,
     "sluice_config_faulty_objects",
     {"kind"},
     "Objects that are not served as they are written; the kind is empty if it could not be read."},
    {observe::MetricKind::kGauge,
     "sluice_processor_servers",
     {"state"},
     "Uses of payload processors that ask a server, by what its answers say of it."},
    {observe::MetricKind::kGauge,
     "sluice_certificate_expiry_timestamp_seconds",
     {"object"},
     "When the certificate of a listener, or the client certificate of a Backend, expires, since the Unix epoch."},
});

/// Appends all of them. `configuration` is the served one, or else the one that was read last; null if none was read.
void appendConfigMetrics(std::string& out, const CompiledConfiguration* configuration, const Revisions& revisions,
                         CountedObjects counted);

}  // namespace sluice::control
