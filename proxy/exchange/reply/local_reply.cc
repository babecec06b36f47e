#include "proxy/exchange/reply/local_reply.h"

#include <charconv>
#include <string>

#include "proxy/base/json_text.h"
#include "proxy/http/grpc.h"

namespace sluice::exchange {
namespace {

constexpr std::size_t kMaxText = 512;

// RFC 9457 section 4.2.1: "about:blank" says that the status itself is all there is to know about the type.
std::string problemDocument(const base::Error& error) {
  std::string text = R"({"type":"about:blank","title":)";
  base::appendJsonString(text, statusTitle(error.status), kMaxText);
  text += ",\"status\":";
  text += std::to_string(error.status);
  text += ",\"detail\":";
  base::appendJsonString(text, error.detail, kMaxText);
  text += ",\"code\":";
  base::appendJsonString(text, base::errorTypeName(error.type), kMaxText);
  text += "}\n";
  return text;
}

// gRPC over HTTP/2, "Status-Message": percent-encodes what is not printable ASCII, and "%".
std::string_view grpcMessage(base::Arena& arena, const base::Error& error) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string text;
  for (const char c : std::string(base::errorTypeName(error.type)) + ": " + error.detail) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte <= 0x7E && c != '%') {
      text += c;
    } else {
      text += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return arena.copy(text);
}

http::ResponseHead grpcReply(base::Arena& arena, const http::RequestHead& request, const base::Error& error) {
  http::ResponseHead head;
  head.status = 200;
  head.version = request.version;
  head.headers.add(arena, http::FieldId::kContentType, "application/grpc");
  head.headers.add(arena, http::FieldId::kGrpcStatus, arena.copy(std::to_string(http::grpcStatusFrom(error.status))));
  head.headers.add(arena, http::FieldId::kGrpcMessage, grpcMessage(arena, error));
  return head;
}

}  // namespace

http::ResponseHead localReply(base::Arena& arena, http::BodyPipe& pipe, const http::RequestHead& request,
                              const base::Error& error) {
  if (http::isAnsweredAsGrpc(request, error.status)) {
    pipe.finish();
    return grpcReply(arena, request, error);
  }
  const std::string document = problemDocument(error);
  http::ResponseHead head;
  head.status = error.status;
  head.version = request.version;
  head.headers.add(arena, http::FieldId::kContentType, "application/problem+json");
  head.headers.add(arena, "cache-control", "no-store");
  head.contentLength = document.size();
  if (request.method != http::Method::kHead) {
    head.body = http::Body::kLength;
    pipe.bytes.append(document);
  }
  pipe.finish();
  return head;
}

std::string_view statusTitle(std::uint16_t status) {
  switch (status) {
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
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
