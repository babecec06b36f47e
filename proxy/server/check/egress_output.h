// The report of a check as text and as JSON.
#pragma once

#include "proxy/content/output/output.h"
#include "proxy/server/check/egress_report.h"

namespace sluice::server {

/// People read a line for each address that was tried, the verdict, and what to do.
content::Output egressOutput(const EgressReport& report);

}  // namespace sluice::server
