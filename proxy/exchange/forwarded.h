// What a request says about its own way here: Forwarded (RFC 7239), and what was in use before it. A client could say
// anything, so by itself nothing of it reaches a backend; what does is the gateway's word, as far as
// settings.yaml's forwardedHeaders wants one.
#pragma once

#include <string_view>

#include "proxy/base/arena.h"
#include "proxy/base/settings.h"
#include "proxy/http/headers.h"
#include "proxy/net/address.h"

namespace sluice::exchange {

/// The name is one of those, or one that some server would take for it (http::areTwins).
bool isForwardedTwin(const http::Field& field);
inline bool isForwarded(const http::Field& field) {
  return field.id == http::FieldId::kForwarded || (field.name.starts_with('x') && isForwardedTwin(field));
}

/// Replaces them all by those that the settings ask for, in a mode other than Off.
void replaceForwarded(base::Arena& arena, http::Headers& headers, const base::ForwardedSettings& settings,
                      const net::Address& client, bool secure, std::string_view authority);

/// Removes them all, and adds those that the settings ask for. `authority` is the one that the client has asked for;
/// `secure`: it came over TLS.
inline void writeForwarded(base::Arena& arena, http::Headers& headers, const base::ForwardedSettings& settings,
                           const net::Address& client, bool secure, std::string_view authority) {
  if (settings.mode == base::ForwardedHeaders::kOff) {
    headers.removeIf(isForwarded);
  } else {
    replaceForwarded(arena, headers, settings, client, secure, authority);
  }
}

}  // namespace sluice::exchange
