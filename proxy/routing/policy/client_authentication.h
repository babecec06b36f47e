// How the clients of a listener prove who they are: by HTTP Basic authentication (RFC 7617).
#pragma once

#include <memory>
#include <string>

#include "proxy/pki/password_file.h"

namespace sluice::routing {

/// An immutable value, which listeners may share.
struct ClientAuthentication {
  std::string policy;    // "namespace/name" of the EgressPolicy
  std::string realm;     // visible ASCII without quotes and backslashes
  bool required = true;  // false: requests without credentials go on, and those with wrong ones do not
  std::shared_ptr<const pki::PasswordFile> users;
};

}  // namespace sluice::routing
