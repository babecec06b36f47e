// What many actors do: one request over a socket, and a look at its answer.
#pragma once

#include <string>
#include <string_view>

#include "test/integration/support/socket.h"
#include "test/soak/actor.h"

namespace sluice::soak {

/// Request heads of HTTP/1.1. `more` are whole field lines.
std::string getHead(const std::string& target, const std::string& more = {});
std::string postHead(const std::string& target, const std::string& more);

/// The answer on a connection of its own, through informational ones.
test::RawResponse fetch(Scene& scene, const std::string& target);
/// The final answer on this connection.
test::RawResponse finalResponse(test::Socket& socket, bool bodiless = false);

/// An error unless the answer is exactly this one.
bool expectAnswer(Scene& scene, const test::RawResponse& got, int status, const std::string& body,
                  const std::string& what);
/// An error unless it is an answer of the gateway's own with this status and code.
bool expectOwnAnswer(Scene& scene, const test::RawResponse& got, int status, const std::string& code,
                     const std::string& what);
/// A few words about an answer, for an error's text.
std::string summary(const test::RawResponse& got);

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
/// Letters and digits.
std::string randomText(Scene& scene, std::size_t size);

}  // namespace sluice::soak
