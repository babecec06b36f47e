#include "proxy/http/proxy_status.h"

#include <algorithm>
#include <string>
#include <vector>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

constexpr std::string_view kProxyStatus = "proxy-status";

/// Takes the next member off the list. A comma within a string separates nothing (RFC 8941 section 3.3.3).
std::string_view takeMember(std::string_view& list) {
  bool quoted = false;
  std::size_t end = 0;
  for (; end < list.size() && (quoted || list[end] != ','); ++end) {
    if (list[end] == '"') quoted = !quoted;
    if (quoted && list[end] == '\\') ++end;
  }
  end = std::min(end, list.size());
  const std::string_view member = list.substr(0, end);
  list.remove_prefix(std::min(end + 1, list.size()));
  return trimSpace(member);
}

/// Returns true if the name of the entry, a token or a string, begins with `prefix`.
bool isOf(std::string_view member, std::string_view prefix) {
  if (!member.empty() && member.front() == '"') member.remove_prefix(1);
  return member.starts_with(prefix);
}

}  // namespace

bool hasProxyStatusOf(const Headers& headers, std::string_view prefix) {
  for (const Field& field : headers) {
    if (field.name != kProxyStatus) continue;
    for (std::string_view rest = field.value; !rest.empty();) {
      if (isOf(takeMember(rest), prefix)) return true;
    }
  }
  return false;
}

// Each line is parsed by itself, because a string without an end would otherwise continue on the next line.
void removeProxyStatusOf(base::Arena& arena, std::string_view prefix, Headers& headers) {
  if (!hasProxyStatusOf(headers, prefix)) return;
  std::vector<std::string_view> lines;
  for (const Field& field : headers) {
    if (field.name != kProxyStatus) continue;
    std::string kept;
    for (std::string_view rest = field.value; !rest.empty();) {
      const std::string_view member = takeMember(rest);
      if (!member.empty() && !isOf(member, prefix)) kept.append(kept.empty() ? "" : ", ").append(member);
    }
    if (!kept.empty()) lines.push_back(arena.copy(kept));
  }
  headers.remove(kProxyStatus);
  for (const std::string_view line : lines) headers.add(arena, kProxyStatus, line);
}

}  // namespace sluice::http
