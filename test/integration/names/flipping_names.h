// A name that resolves to an origin and to forbidden addresses in turn, for tests of DNS rebinding, and what a load
// test has counted.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "test/integration/support/scripted_name_server.h"

namespace sluice::test {

inline constexpr const char* kFlippingOrigin = "127.0.0.2";

/// The name resolves to these address lists in turn. The origin is in every second answer; where it is not alone, it
/// comes last.
inline const std::vector<std::vector<std::string>> kFlippingAnswers = {
    {kFlippingOrigin},
    {"127.0.0.1"},
    {kFlippingOrigin},
    {"169.254.169.254"},
    {kFlippingOrigin},
    {"0.0.0.0"},
    {"127.0.0.1", kFlippingOrigin},
    {"10.0.0.1", "192.168.0.1"},
    {"169.254.169.254", "::1", "127.0.0.1", kFlippingOrigin},
    {"::1"},
    {kFlippingOrigin},
    {"::ffff:127.0.0.1"},
    {kFlippingOrigin},
    {"::ffff:127.0.0.2"},
    {"::ffff:127.0.0.1", kFlippingOrigin},
    {"fd00::1"},
    {kFlippingOrigin},
    {"64:ff9b::7f00:1"},
    {"64:ff9b::7f00:1", kFlippingOrigin},
    {"2002:7f00:1::"},
    {kFlippingOrigin},
    {"100.64.0.1", "224.0.0.1", "fe80::1", "::"},
};

/// Returns a script that answers each query of a type with the next list.
inline ScriptedNameServer::Script flippingNames(std::size_t ttl) {
  return [ttl](const DnsQuestion& question) {
    const auto& answer = kFlippingAnswers[static_cast<std::size_t>(question.number) % kFlippingAnswers.size()];
    return std::vector<ScriptedNameServer::Datagram>{{dnsReply(question, answer, ttl)}};
  };
}

/// Returns the number before a word in h2load's output: "status codes: 4 2xx, 0 3xx, 4 4xx, 0 5xx".
inline int counted(const std::string& output, const std::string& word) {
  const std::size_t at = output.find(" " + word);
  if (at == std::string::npos) return -1;
  const std::size_t begin = output.find_last_of(" :,", at - 1) + 1;
  return std::stoi(output.substr(begin, at - begin));
}

}  // namespace sluice::test
