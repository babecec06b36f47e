#include "proxy/routing/policy/egress/name_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "proxy/routing/policy/egress/rule_set.h"

namespace sluice::routing {
namespace {

constexpr std::uint64_t kFactor = 0x9e3779b97f4a7c15U;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t word) {
  hash = (hash ^ word) * kFactor;
  return hash ^ hash >> 32;
}

/// Takes eight bytes at once, because each request needs some hashes of names. Never 0.
std::uint64_t hashOf(std::string_view name) {
  std::uint64_t hash = name.size();
  std::uint64_t word = 0;
  if (name.size() < sizeof(word)) {
    for (const char c : name) word = word << 8 | static_cast<std::uint8_t>(c);
    return mixed(hash, word) | 1;
  }
  for (std::size_t at = 0; at < name.size() - sizeof(word); at += sizeof(word)) {
    std::memcpy(&word, name.data() + at, sizeof(word));
    hash = mixed(hash, word);
  }
  // The last eight bytes, some of which may have been taken before.
  std::memcpy(&word, name.data() + name.size() - sizeof(word), sizeof(word));
  return mixed(hash, word) | 1;
}

}  // namespace

template <typename Rules>
NameTable<Rules>::NameTable(const Rules& always, const std::vector<RuleHostname>& hostnames) : always_(always) {
  if (hostnames.empty()) return;
  slots_.resize(std::bit_ceil(hostnames.size() * 2));
  mask_ = slots_.size() - 1;
  for (const auto& [hostname, rule] : hostnames) {
    const bool isWildcard = hostname.starts_with("*.");
    Entry& entry = entryOf(isWildcard ? hostname.substr(2) : hostname);
    (isWildcard ? entry.below : entry.exact).insert(rule);
    if (isWildcard) suffixLengths_.push_back(entry.name.size());
  }
  std::sort(suffixLengths_.begin(), suffixLengths_.end());
  suffixLengths_.erase(std::unique(suffixLengths_.begin(), suffixLengths_.end()), suffixLengths_.end());
}

template <typename Rules>
typename NameTable<Rules>::Entry& NameTable<Rules>::entryOf(const std::string& name) {
  if (const Entry* const known = lookUp(name)) return entries_[static_cast<std::size_t>(known - entries_.data())];
  const std::uint64_t hash = hashOf(name);
  std::size_t at = hash >> 1 & mask_;
  while (slots_[at].hash != 0) at = (at + 1) & mask_;
  slots_[at] = {hash, entries_.size()};
  return entries_.emplace_back(Entry{name, {}, {}});
}

template <typename Rules>
const typename NameTable<Rules>::Entry* NameTable<Rules>::lookUp(std::string_view name) const {
  const std::uint64_t hash = hashOf(name);
  for (std::size_t at = hash >> 1 & mask_; slots_[at].hash != 0; at = (at + 1) & mask_) {
    if (slots_[at].hash != hash) continue;
    const Entry& entry = entries_[slots_[at].entry];
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

template <typename Rules>
Rules NameTable<Rules>::find(std::string_view name) const {
  Rules found = always_;
  if (slots_.empty() || name.empty()) return found;
  if (const Entry* const entry = lookUp(name)) found |= entry->exact;
  for (const std::size_t length : suffixLengths_) {
    if (length >= name.size()) break;
    const std::size_t begin = name.size() - length;
    if (name[begin - 1] != '.' || begin == 1) continue;
    if (const Entry* const entry = lookUp(name.substr(begin))) found |= entry->below;
  }
  return found;
}

template class NameTable<RuleSet<1>>;
template class NameTable<RuleSet<kMostRuleWords>>;

}  // namespace sluice::routing
