#include "proxy/http/message.h"

#include <array>
#include <cstddef>

namespace sluice::http {

std::string_view versionName(Version version) {
  switch (version) {
    case Version::kHttp10:
      return "1.0";
    case Version::kHttp11:
      return "1.1";
    case Version::kHttp2:
      return "2";
    case Version::kOpaque:
      return "";
  }
  return {};
}

std::string_view methodLabel(Method method) {
  constexpr std::array<std::string_view, kMethods> kLabels{"GET",     "HEAD",    "POST",  "PUT",   "DELETE",
                                                           "CONNECT", "OPTIONS", "TRACE", "PATCH", "_OTHER"};
  return kLabels[static_cast<std::size_t>(method)];
}

Method methodFrom(std::string_view name) {
  switch (name.size()) {
    case 3:
      if (name == "GET") return Method::kGet;
      if (name == "PUT") return Method::kPut;
      break;
    case 4:
      if (name == "HEAD") return Method::kHead;
      if (name == "POST") return Method::kPost;
      break;
    case 5:
      if (name == "TRACE") return Method::kTrace;
      if (name == "PATCH") return Method::kPatch;
      break;
    case 6:
      if (name == "DELETE") return Method::kDelete;
      break;
    case 7:
      if (name == "CONNECT") return Method::kConnect;
      if (name == "OPTIONS") return Method::kOptions;
      break;
    default:
      break;
  }
  return Method::kOther;
}

bool isIdempotent(Method method) {
  switch (method) {
    case Method::kGet:
    case Method::kHead:
    case Method::kPut:
    case Method::kDelete:
    case Method::kOptions:
    case Method::kTrace:
      return true;
    case Method::kPost:
    case Method::kConnect:
    case Method::kPatch:
    case Method::kOther:
      return false;
  }
  return false;
}

void spellPathAsSent(base::Arena& arena, RequestHead& head) {
  if (head.sentPath.empty()) return;
  head.target = arena.concat(head.sentPath, head.target.substr(head.path().size()));
  head.sentPath = {};
}

RequestHead clone(base::Arena& arena, const RequestHead& head) {
  RequestHead result = head;
  result.methodText = arena.copy(head.methodText);
  result.authority = arena.copy(head.authority);
  result.target = arena.copy(head.target);
  result.sentPath = arena.copy(head.sentPath);
  result.tunnelProof = arena.copy(head.tunnelProof);
  result.headers = head.headers.clone(arena);
  result.proxyAuthorization = nullptr;
  return result;
}

}  // namespace sluice::http
