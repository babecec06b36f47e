// `sluice revisions`: lists the revisions that a running gateway has served or refused, and clears a taint.
#pragma once

#include <string>
#include <string_view>

#include "proxy/net/address.h"
#include "proxy/server/commands/output_format.h"

namespace sluice::server {

/// Prints the ledger of the gateway with that admin port. Returns 0, or 1 if it does not answer.
int printRevisions(const net::Address& admin, OutputFormat format);
/// Lets the gateway try a tainted revision again. Returns 0, or 1 if there is no such revision.
int clearRevision(const net::Address& admin, const std::string& hash);

/// Returns the admin document /revisions as a text for people.
std::string revisionsText(std::string_view document);

}  // namespace sluice::server
