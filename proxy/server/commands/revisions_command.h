// `sluice revisions`: lists the revisions that a running gateway has served or refused, and clears a taint.
#pragma once

#include <string>

#include "proxy/content/output/output.h"
#include "proxy/net/address.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the ledger of the gateway with that admin port. Returns 0, or 1 if it does not answer.
int printRevisions(const net::Address& admin, OutputFormat format);
/// Lets the gateway try a tainted revision again. Returns 0, or 1 if there is no such revision.
int clearRevision(const net::Address& admin, const std::string& hash);

/// Returns what printRevisions() prints about the admin page /revisions.
content::Output revisionsOutput(content::Value page);

}  // namespace sluice::server
