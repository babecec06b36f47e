// Sends requests to the admin port of a running gateway, for commands that show or change its state.
//
// Blocks until the answer is there.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proxy/base/result.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"

namespace sluice::server {

struct AdminReply {
  std::uint16_t status = 0;
  std::string body;
};

/// Sends one request, and returns the answer to it. Errors report that no gateway answers there, and how to name
/// another address. `body` is sent with a POST.
base::Result<AdminReply> askAdmin(const net::Address& at, http::Method method, const std::string& target,
                                  std::string_view body = {});

}  // namespace sluice::server
