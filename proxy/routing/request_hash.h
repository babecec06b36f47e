// The value of a request by which consistent hashing chooses an endpoint. Pure function.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "proxy/base/terms/load_balancing.h"
#include "proxy/http/message.h"

namespace sluice::routing {

/// Returns the hash of the header fields, of the parameters, of a cookie of others or of the client's address; nullopt
/// if the request has none of these, or if the terms have no hash or the cookie that the gateway makes.
std::optional<std::uint64_t> requestHash(const base::LoadBalancing& terms, const http::RequestHead& head,
                                         std::string_view client);

}  // namespace sluice::routing
