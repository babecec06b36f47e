#include "proxy/exchange/reply/local_reply.h"

#include <charconv>
#include <string>

#include "proxy/base/json_text.h"
#include "proxy/http/grpc.h"
#include "proxy/http/hygiene.h"

namespace sluice::exchange {
namespace {

constexpr std::uint16_t kMethodNotAllowed = 405;
constexpr std::string_view kAllowedMethods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS, TRACE";

constexpr std::size_t kMaxText = 512;

void addMember(std::string& text, std::string_view key, std::string_view value) {
  text.append(",\"").append(key).append("\":");
  base::appendJsonString(text, value, kMaxText);
}

/// Returns the sentence for the client.
std::string detailOf(const LocalReplyParts& reply) {
  std::string text = reply.error.detail;
  if (!reply.backend.empty()) text.append(" (").append(reply.backend).append(")");
  return text;
}

/// Returns the class of errors by which SDKs of model providers distinguish errors in `error.type`.
std::string_view errorClass(std::uint16_t status) {
  if (status == 401 || status == 407) return "authentication_error";
  if (status == 403) return "permission_error";
  if (status == 404) return "not_found_error";
  if (status == 429) return "rate_limit_error";
  return status < 500 ? "invalid_request_error" : "api_error";
}

// RFC 9457 section 4.2.1: the type "about:blank" means that the status describes the problem. The object `error`
// repeats that in the place where SDKs of model providers look for it.
std::string problemDocument(const LocalReplyParts& reply) {
  const base::Error& error = reply.error;
  const std::string_view code = base::errorTypeName(error.type);
  const std::string detail = detailOf(reply);
  std::string text = R"({"type":"about:blank","title":)";
  base::appendJsonString(text, statusTitle(error.status), kMaxText);
  text += ",\"status\":" + std::to_string(error.status);
  addMember(text, "detail", detail);
  addMember(text, "code", code);
  if (!error.limit.empty()) addMember(text, "limit", error.limit);
  if (!reply.requestId.empty()) addMember(text, "request_id", reply.requestId);
  text += R"(,"error":{"message":)";
  base::appendJsonString(text, detail, kMaxText);
  addMember(text, "type", errorClass(error.status));
  addMember(text, "code", code);
  text += ",\"param\":null}}\n";
  return text;
}

/// Returns the body of the step that has replied; nullptr if there is none.
const std::string* ownBody(const LocalReplyParts& reply) {
  return reply.ofStep != nullptr && reply.ofStep->body ? &*reply.ofStep->body : nullptr;
}

// gRPC over HTTP/2, "Status-Message": percent-encodes bytes that are not printable ASCII, and "%".
std::string_view grpcMessage(base::Arena& arena, std::string_view message) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : message.substr(0, kMaxText)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7E && c != '%') {
      text += c;
    } else {
      text += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return arena.copy(text);
}

http::ResponseHead grpcReply(base::Arena& arena, const LocalReplyParts& reply) {
  const std::uint32_t mapped = http::grpcStatusFrom(reply.error.status);
  const std::uint32_t status = reply.ofStep != nullptr ? reply.ofStep->grpcStatus.value_or(mapped) : mapped;
  const std::string* body = ownBody(reply);
  const std::string message =
      body != nullptr ? *body : std::string(base::errorTypeName(reply.error.type)) + ": " + detailOf(reply);
  http::ResponseHead head;
  head.status = 200;
  head.version = reply.request.version;
  head.headers.add(arena, http::FieldId::kContentType, "application/grpc");
  head.headers.add(arena, http::FieldId::kGrpcStatus, arena.copy(std::to_string(status)));
  head.headers.add(arena, http::FieldId::kGrpcMessage, grpcMessage(arena, message));
  return head;
}

}  // namespace

http::ResponseHead localReply(base::Arena& arena, http::BodyPipe& pipe, const LocalReplyParts& reply) {
  const http::RequestHead& request = reply.request;
  const base::Error& error = reply.error;
  if (http::isAnsweredAsGrpc(request, error.status)) {
    pipe.finish();
    return grpcReply(arena, reply);
  }
  http::ResponseHead head;
  head.status = error.status;
  head.version = request.version;
  const std::string* own = ownBody(reply);
  if (own == nullptr) {
    head.headers.add(arena, http::FieldId::kContentType, "application/problem+json");
    head.headers.add(arena, "cache-control", "no-store");
    // RFC 9110 section 15.5.6. No method but CONNECT is refused for its name.
    if (error.status == kMethodNotAllowed) head.headers.add(arena, "allow", kAllowedMethods);
  }
  if (!http::statusForbidsBody(error.status)) {
    const std::string document = own == nullptr ? problemDocument(reply) : std::string();
    const std::string& body = own == nullptr ? document : *own;
    head.contentLength = body.size();
    if (request.method != http::Method::kHead && !body.empty()) {
      head.body = http::Body::kLength;
      pipe.bytes.append(body);
    }
  }
  pipe.finish();
  return head;
}

std::string_view statusTitle(std::uint16_t status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 508:
      return "Loop Detected";
    default:
      return "Error";
  }
}

}  // namespace sluice::exchange
