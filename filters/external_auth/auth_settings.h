// The config of one use of ExternalAuth, read once, and the way in which both of its protocols refuse a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proxy/base/result.h"
#include "proxy/content/value.h"
#include "proxy/processing/call.h"
#include "proxy/processing/callout.h"
#include "proxy/processing/verdict.h"

namespace sluice::filters {

/// The most bytes of an authorization server's answer: a body over HTTP, a message over gRPC.
inline constexpr std::size_t kMostAuthAnswer = 64 * 1024;
/// The most header fields that a gRPC answer may set, add or remove in one message.
inline constexpr std::size_t kMostAuthFields = 100;

struct AuthSettings {
  std::shared_ptr<const processing::CalloutTarget> target = {};
  bool grpc = false;
  std::string prefix = {};                // in front of the path of a check over HTTP; empty, or "/a/b"
  std::vector<std::string> allowed = {};  // names of the client's fields that the server sees, in lower case
  std::vector<std::string> copied = {};   // names of the server's fields that the Backend sees, in lower case
  std::uint64_t maxBody = 0;              // bytes of the client's body that the server sees at most

  /// Returns everything but the target. Errors name the member.
  static base::Result<AuthSettings> read(const content::Value& config);
};

using AuthFields = std::vector<std::pair<std::string, std::string>>;

bool isListed(const std::vector<std::string>& names, std::string_view name);
/// Returns the reply that denies the request in the server's words. A status that would look like a success is 403.
processing::Verdict deny(int status, AuthFields fields, std::string body);

}  // namespace sluice::filters
