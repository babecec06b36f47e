// Sends requests to the admin port of a running gateway, for commands that show or change its state.
//
// Blocks until the answer is there.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/http/message.h"
#include "proxy/net/address.h"

namespace sluice::server {

/// Sends one request, and returns the body of the answer if its status is 200. Other errors have the status and the
/// body of the answer, or say that nobody answers there, and how to name another address. `body` is sent with a POST.
base::Result<std::string> askAdmin(const net::Address& at, http::Method method, const std::string& target,
                                   std::string_view body = {});

/// The receiver of a page that stays open. Each function returns false to end it.
struct FollowedPage {
  std::function<bool(std::string_view bytes)> onBytes;
  /// Descriptors that are watched meanwhile, such as a terminal; the function is called when one of them is readable.
  std::vector<int> watched = {};
  std::function<bool(int descriptor)> onReady = {};
};

/// Follows a page until the receiver ends it. Fails as askAdmin() does, or if the gateway ends it.
base::Status followAdminPage(const net::Address& at, const std::string& target, const FollowedPage& user);

/// Reads a page in JSON, however long it is.
base::Result<content::Value> readAdminPage(std::string_view page);
/// Asks for a page in JSON, and reads it.
base::Result<content::Value> askAdminPage(const net::Address& at, const std::string& target);

}  // namespace sluice::server
