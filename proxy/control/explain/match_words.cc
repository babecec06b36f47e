#include "proxy/control/explain/match_words.h"

#include <variant>

namespace sluice::control {
namespace {

using routing::EntryFit;

std::string_view kindName(routing::PathKind kind) {
  switch (kind) {
    case routing::PathKind::kExact:
      return "Exact";
    case routing::PathKind::kPrefix:
      return "PathPrefix";
    case routing::PathKind::kExpression:
      return "RegularExpression";
  }
  return {};
}

std::string rpcInWords(const routing::RpcPattern& rpc) {
  if (rpc.service.empty() && rpc.method.empty()) return "every call";
  const std::string type = rpc.isExpression ? " (RegularExpression)" : "";
  std::string text;
  if (!rpc.service.empty()) text += "service " + rpc.service + type;
  if (!rpc.method.empty()) text += (text.empty() ? "" : ", ") + ("rpc method " + rpc.method + type);
  return text;
}

std::string predicateInWords(const char* what, const routing::Predicate& predicate) {
  const bool expression = std::holds_alternative<routing::Regex>(predicate.expected);
  return std::string(", ") + what + " " + predicate.name + (expression ? " (RegularExpression)" : "");
}

/// Describes whether the request lacks the value or has another one.
std::string unmetInWords(const routing::SurveyedEntry& entry, const http::RequestHead& head) {
  const bool isHeader = entry.fit == EntryFit::kHeader;
  routing::ValueBuffer buffer;
  const auto kind = isHeader ? routing::PredicateKind::kHeader : routing::PredicateKind::kQuery;
  const bool present = routing::valueOf(head, kind, entry.name, buffer).has_value();
  return std::string(isHeader ? "header " : "query parameter ") + std::string(entry.name) +
         (present ? " does not match" : " is missing");
}

bool samePath(const routing::Match& a, const routing::Match& b) {
  if (a.rpc && b.rpc) return a.rpc->service == b.rpc->service && a.rpc->method == b.rpc->method;
  return a.pathKind == b.pathKind && a.path == b.path;
}

std::string whoGoesFirst(const routing::SurveyedEntry& entry, const routing::SurveyedEntry& serving) {
  const routing::Match& own = *entry.candidate->match;
  const routing::Match& first = *serving.candidate->match;
  if (entry.hostname != serving.hostname) return "it fits too, but a more specific hostname goes first";
  if (!samePath(own, first)) return "it fits too, but a more specific path goes first";
  const auto sizes = [](const routing::Predicates& all) {
    return std::make_tuple(all.method.empty(), all.headers.size(), all.query.size());
  };
  if (sizes(own.predicates) != sizes(first.predicates)) return "it fits too, but a more specific match goes first";
  return own.precedence.route == first.precedence.route ? "it fits too, but an earlier rule of the route goes first"
                                                        : "it fits too, but an older route goes first";
}

}  // namespace

std::string matchInWords(const routing::Match& match) {
  std::string text = match.rpc ? rpcInWords(*match.rpc) : std::string(kindName(match.pathKind)) + " " + match.path;
  if (!match.predicates.method.empty()) text += ", method " + match.predicates.method;
  for (const routing::Predicate& each : match.predicates.headers) text += predicateInWords("header", each);
  for (const routing::Predicate& each : match.predicates.query) text += predicateInWords("query", each);
  return text;
}

std::string reasonInWords(const routing::SurveyedEntry& entry, const routing::SurveyedEntry* serving,
                          const http::RequestHead& head) {
  switch (entry.fit) {
    case EntryFit::kHolds:
      return serving != nullptr ? whoGoesFirst(entry, *serving) : std::string();
    case EntryFit::kPath:
      return entry.candidate->match->rpc ? "the gRPC service or method does not match" : "the path does not match";
    case EntryFit::kMethod:
      return "the method does not match";
    case EntryFit::kHeader:
    case EntryFit::kQuery:
      return unmetInWords(entry, head);
    case EntryFit::kHostname:
      return "the hostname does not match";
    case EntryFit::kListener:
      return "it is at a listener that does not own this host, as a more specific hostname does";
  }
  return {};
}

}  // namespace sluice::control
