// Forwarded (RFC 7239), and the fields in use before it, describe the path of a request. A client could claim anything,
// so none of these fields reaches a backend by itself. The gateway writes its own, as far as settings.yaml's
// forwardedHeaders asks for them.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/settings.h"
#include "proxy/http/headers.h"

namespace sluice::exchange {

/// The client in the form in which backends learn of it.
struct ForwardedClient {
  std::string_view address;  // without a port
  bool secure;
};

/// Returns true if the name is that of such a field, or one that some server would take for it (http::areTwins).
bool isForwardedTwin(const http::Field& field);
inline bool isForwarded(const http::Field& field) {
  return field.id == http::FieldId::kForwarded || (field.name.starts_with('x') && isForwardedTwin(field));
}

/// Replaces all such fields by those that the settings ask for, in a mode other than Off.
void replaceForwarded(base::Arena& arena, http::Headers& headers, const base::ForwardedSettings& settings,
                      std::string_view client, bool secure, std::string_view authority);

/// Removes all such fields, and adds those that the settings ask for. `authority` is the one that the client has asked
/// for; `secure` is true if the request came over TLS.
inline void writeForwarded(base::Arena& arena, http::Headers& headers, const base::ForwardedSettings& settings,
                           std::string_view client, bool secure, std::string_view authority) {
  if (settings.mode == base::ForwardedHeaders::kOff) {
    headers.removeIf(isForwarded);
  } else {
    replaceForwarded(arena, headers, settings, client, secure, authority);
  }
}

}  // namespace sluice::exchange
