// The check of a request by Envoy's external authorization protocol (envoy.service.auth.v3.Authorization): the message
// to the server, and the meaning of its answer.
#pragma once

#include <optional>
#include <string>

#include "filters/external_auth/auth_settings.h"

namespace sluice::filters {

/// Returns the head of the check, with views that live as long as the exchange.
http::RequestHead grpcCheck(processing::Call& call);
/// Returns the body of the check: one message in its frame. `body` is the part of the client's body that the server
/// sees; nullptr if it sees none.
std::string grpcMessage(const processing::Call& call, const AuthSettings& settings, const processing::Peer& peer,
                        const base::ByteQueue* body);
/// Returns the decision once it is there; changes the request if it is permitted. The caller handles a callout that has
/// failed. `toClient` gets the fields for the response to the client.
std::optional<processing::Verdict> judgeGrpc(processing::Call& call, const processing::Callout& callout,
                                             AuthFields& toClient);

}  // namespace sluice::filters
