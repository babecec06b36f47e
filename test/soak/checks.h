// Helpers that many actors share: one request over a socket, and checks of its answer.
#pragma once

#include <string>
#include <string_view>

#include "test/integration/support/blocking_socket.h"
#include "test/soak/actor.h"

namespace sluice::soak {

/// Return request heads of HTTP/1.1. `more` holds whole field lines.
std::string getHead(const std::string& target, const std::string& more = {});
std::string postHead(const std::string& target, const std::string& more);

/// Returns the final answer on a connection of its own, skipping informational ones.
test::ReceivedResponse fetch(Scene& scene, const std::string& target);
/// Returns the final answer on this connection.
test::ReceivedResponse finalResponse(test::BlockingSocket& socket, bool bodiless = false);

/// Records an error unless the answer is exactly this one.
bool expectAnswer(Scene& scene, const test::ReceivedResponse& got, int status, const std::string& body,
                  const std::string& what);
/// Records an error unless this is a local reply of the gateway with this status and code.
bool expectOwnAnswer(Scene& scene, const test::ReceivedResponse& got, int status, const std::string& code,
                     const std::string& what);
/// Describes an answer in a few words, for an error's text.
std::string summary(const test::ReceivedResponse& got);

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
/// Returns random letters and digits.
std::string randomText(Scene& scene, std::size_t size);

}  // namespace sluice::soak
