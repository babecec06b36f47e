#include "filters/connect_rule.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "proxy/base/text.h"

namespace sluice::filters {
namespace {

/// Calls read(text, place) for each item of the list under `key`, until it returns an error.
template <typename Read>
base::Status readItems(const content::Value& rule, std::string_view key, Read&& read) {
  const content::Value* const list = rule.find(key);
  if (list == nullptr) return base::Done{};
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    const std::string place = std::string(key) + "[" + std::to_string(i) + "]: ";
    if (auto status = read(list->items[i].text, place); !status) return status;
  }
  return base::Done{};
}

/// Returns 32 bytes for 64 digits, with or without colons between the bytes; else an empty text.
std::string bytesOf(std::string_view digits) {
  std::string bytes;
  for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
    if (digits[i] == ':') ++i;
    std::uint8_t byte = 0;
    const char* const begin = digits.data() + i;
    if (i + 2 > digits.size() || std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) return {};
    bytes.push_back(static_cast<char>(byte));
  }
  return bytes.size() == 32 ? bytes : "";
}

template <typename T>
bool holds(const std::vector<T>& list, const T& value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

base::Result<ConnectRule> ConnectRule::read(const content::Value& rule) {
  ConnectRule result;
  auto status = readItems(rule, "cidrs", [&](const std::string& text, const std::string& place) -> base::Status {
    const auto network = base::IpNetwork::parse(text);
    if (!network) return base::Error::config(place + "is neither an address nor a network like 10.0.0.0/8");
    result.networks_.push_back(*network);
    return base::Done{};
  });
  if (!status) return std::move(status).error();
  // The schema takes 4.43e2 as an integer too.
  status = readItems(rule, "ports", [&](const std::string& text, const std::string& place) -> base::Status {
    std::uint16_t port = 0;
    const char* const end = text.data() + text.size();
    if (std::from_chars(text.data(), end, port).ptr != end) return base::Error::config(place + "is no whole number");
    result.ports_.push_back(port);
    return base::Done{};
  });
  if (!status) return std::move(status).error();
  status = readItems(rule, "fingerprints", [&](const std::string& text, const std::string& place) -> base::Status {
    result.certificates_.push_back(bytesOf(text));
    if (!result.certificates_.back().empty()) return base::Done{};
    return base::Error::config(place + "is no SHA-256 in hexadecimal digits");
  });
  if (!status) return std::move(status).error();
  if (const content::Value* list = rule.find("sni")) {
    for (const content::Value& name : list->items) result.names_.push_back(base::toLower(name.text));
  }
  if (const content::Value* list = rule.find("serviceAccounts")) {
    for (const content::Value& name : list->items) result.serviceAccounts_.push_back(name.text);
  }
  if (const content::Value* assurance = rule.find("assurance")) {
    const auto least = base::assuranceOf(assurance->text);
    if (!least) return base::Error::config("assurance: is none of Certificate, Token, Address and None");
    result.assurance_ = *least;
  }
  return {std::move(result)};
}

bool ConnectRule::matchesName(std::string_view serverName) const {
  const std::string name = base::toLower(serverName);
  return std::any_of(names_.begin(), names_.end(), [&name](std::string_view pattern) {
    if (!pattern.starts_with("*.")) return name == pattern;
    pattern.remove_prefix(1);
    return name.size() > pattern.size() && name.ends_with(pattern);
  });
}

bool ConnectRule::matchesCaller(const processing::Peer& peer, bool unknownCallers) const {
  if (assurance_ == base::Assurance::kNone && serviceAccounts_.empty()) return true;
  if (peer.assurance == base::Assurance::kNone) return unknownCallers;
  if (peer.assurance < assurance_) return false;
  if (serviceAccounts_.empty()) return true;
  if (peer.serviceAccount.empty()) return unknownCallers;
  return holds(serviceAccounts_, std::string(peer.nameSpace) + "/" + std::string(peer.serviceAccount));
}

RuleMatch ConnectRule::match(const ConnectFacts& facts, bool unknownCallers) const {
  const bool isInside = std::any_of(networks_.begin(), networks_.end(),
                                    [&facts](const base::IpNetwork& each) { return each.contains(facts.ip); });
  if (!networks_.empty() && !isInside) return RuleMatch::kNo;
  if (!ports_.empty() && !holds(ports_, facts.port)) return RuleMatch::kNo;
  if (!names_.empty() && !matchesName(facts.serverName)) return RuleMatch::kNo;
  if (!matchesCaller(facts.peer, unknownCallers)) return RuleMatch::kNo;
  if (certificates_.empty()) return RuleMatch::kYes;
  if (facts.certificate == nullptr) return RuleMatch::kByCertificate;
  return holds(certificates_, std::string(*facts.certificate)) ? RuleMatch::kYes : RuleMatch::kNo;
}

}  // namespace sluice::filters
