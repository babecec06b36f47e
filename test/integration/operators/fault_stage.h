// The peers of a gateway that a fault strikes, and the search for its reason in what the gateway tells. A stage has no
// peer until a test makes it, and outlives its gateway.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test/integration/support/ext_proc_server.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/scripted_name_server.h"
#include "test/support/held_port.h"

namespace sluice::test {

/// Words that occur together: in one line of a command, in one event, in the name of one series. "$dns" is the address
/// of the name server, "$file" the path of the access log, "$port" the port of the listener that is taken.
using ReasonWords = std::vector<std::string>;

class FaultStage {
 public:
  /// Returns the port of an origin that answers.
  std::uint16_t origin() {
    if (!origin_) origin_.emplace(std::nullopt);
    return origin_->port();
  }
  /// Returns the port of a TLS server that ends the handshake of a client without a valid certificate of `authority`.
  std::uint16_t strictOrigin() {
    const CertifiedKey server = issueServer(authority, "origin.test");
    const std::uint16_t port = freePort();
    strict_ = std::make_unique<ChildProcess>(std::vector<std::string>{
        "openssl", "s_server", "-accept", "127.0.0.1:" + std::to_string(port), "-www", "-Verify", "1",
        "-verify_return_error", "-CAfile", folder_.write("ca.crt", authority.certificate), "-cert",
        folder_.write("origin.crt", server.certificate), "-key", folder_.write("origin.key", server.key)});
    EXPECT_TRUE(waitForPort(port)) << strict_->errors();
    return port;
  }
  /// Returns the port of a server that answers whoever comes, such as another program at a port of the gateway.
  std::uint16_t occupant() {
    if (!occupant_) occupant_.emplace(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    return occupant_->port();
  }
  /// Returns a port at which nobody listens.
  std::uint16_t nobody() const { return nobody_.port(); }
  /// Returns the server of an external processor.
  ExtProcServer& guard() {
    if (!guard_) guard_.emplace();
    return *guard_;
  }
  /// Starts a name server, and returns the members of `dns` that name it.
  std::string dnsOf(ScriptedNameServer::Script script) {
    names_.emplace(std::move(script));
    return "servers: [\"" + names_->address() + "\"], timeout: 200ms, attempts: 1";
  }
  /// Returns a path in a folder that does not exist.
  std::string pathWithoutFolder() { return file_ = folder_.path() + "/missing/access.log"; }
  /// Returns a file of a disk that is full.
  std::string fullDisk() { return file_ = "/dev/full"; }

  /// Returns the words with the names of this stage in them.
  ReasonWords filled(ReasonWords words) const {
    for (std::string& word : words) {
      if (word == "$dns") word = names_->address();
      if (word == "$file") word = file_;
      if (word == "$port") word = std::to_string(occupant_->port());
    }
    return words;
  }

  const CertifiedKey authority = makeAuthority();
  const CertifiedKey identity = issueServer(authority, "gateway.test");

 private:
  const TempDir folder_;
  const HeldPort nobody_;
  std::string file_;
  std::optional<EchoOrigin> origin_;
  std::unique_ptr<ChildProcess> strict_;
  std::optional<RawOrigin> occupant_;
  std::optional<ExtProcServer> guard_;
  std::optional<ScriptedNameServer> names_;
};

/// Returns the text of a command in which each line that begins with a space is a part of the one above.
inline std::string unfolded(std::string text) {
  for (std::size_t at = 0; (at = text.find("\n ", at)) != std::string::npos;) text.erase(at, 1);
  return text;
}

/// Returns the lines of the text that have all these words.
inline std::vector<std::string> linesWith(const std::string& text, const ReasonWords& words) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const bool all = std::all_of(words.begin(), words.end(),
                                 [&](const std::string& word) { return line.find(word) != std::string::npos; });
    if (all) found.push_back(line);
  }
  return found;
}

/// Returns true if a series that has these words, its family first, is above 0.
inline bool isCounted(const std::string& metrics, const ReasonWords& words) {
  const std::vector<std::string> lines = linesWith(metrics, words);
  return std::any_of(lines.begin(), lines.end(), [&](const std::string& line) {
    return line.starts_with(words.front()) && std::stod(line.substr(line.rfind(' ') + 1)) > 0;
  });
}

/// Returns the events of a gateway, the lines of its process log and those of its access log on stdout, each as a line.
inline std::string allToldBy(GatewayProcess& gateway) {
  std::string events = gateway.adminGet("/events");
  for (std::size_t at = 0; (at = events.find("},{", at)) != std::string::npos;) events.replace(at, 3, "}\n{");
  return events + "\n" + gateway.process().errors() + "\n" + gateway.process().output();
}

}  // namespace sluice::test
