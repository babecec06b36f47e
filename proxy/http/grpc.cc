#include "proxy/http/grpc.h"

#include <array>
#include <charconv>

#include "proxy/http/grammar.h"

namespace sluice::http {
namespace {

constexpr std::uint32_t kUnknown = 2;

std::string percentDecoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool encoded =
        text[i] == '%' && i + 2 < text.size() && hexValue(text[i + 1]) >= 0 && hexValue(text[i + 2]) >= 0;
    if (!encoded) {
      result += text[i];
      continue;
    }
    result += static_cast<char>(hexValue(text[i + 1]) * 16 + hexValue(text[i + 2]));
    i += 2;
  }
  return result;
}

}  // namespace

bool speaksGrpc(const RequestHead& request) {
  static constexpr std::string_view kType = "application/grpc";
  if (request.version != Version::kHttp2) return false;
  const Field* type = request.headers.find(FieldId::kContentType);
  if (type == nullptr || type->value.size() < kType.size()) return false;
  const std::string_view rest = type->value.substr(kType.size());
  return equalsIgnoreCase(type->value.substr(0, kType.size()), kType) &&
         (rest.empty() || rest[0] == '+' || rest[0] == ';');
}

bool isAnsweredAsGrpc(const RequestHead& request, std::uint16_t status) {
  constexpr std::uint16_t kUnsupportedMediaType = 415;
  // RFC 8441 section 5: a client that asks for a tunnel takes every success for one.
  return speaksGrpc(request) && request.body != Body::kTunnel && status != kUnsupportedMediaType;
}

std::string frameGrpcMessage(std::string_view message) {
  std::string framed(kGrpcPrefix, '\0');
  for (std::size_t i = 1; i < kGrpcPrefix; ++i) {
    framed[i] = static_cast<char>(message.size() >> (8 * (kGrpcPrefix - 1 - i)) & 0xFF);
  }
  return framed.append(message);
}

GrpcFrame readGrpcMessage(const base::ByteQueue& body, std::size_t most, std::string& message) {
  std::array<char, kGrpcPrefix> prefix{};
  if (body.peek(0, prefix) < prefix.size()) return GrpcFrame::kIncomplete;
  if (prefix[0] != 0) return GrpcFrame::kCompressed;
  std::size_t length = 0;
  for (std::size_t i = 1; i < prefix.size(); ++i) length = length << 8 | static_cast<unsigned char>(prefix[i]);
  if (length > most) return GrpcFrame::kTooLarge;
  if (body.size() < prefix.size() + length) return GrpcFrame::kIncomplete;
  message.resize(length);
  body.peek(prefix.size(), message);
  return GrpcFrame::kMessage;
}

GrpcStatus grpcStatusOf(const ResponseHead& head, const Headers* trailers) {
  const Headers& said =
      trailers != nullptr && trailers->find(FieldId::kGrpcStatus) != nullptr ? *trailers : head.headers;
  const Field* status = said.find(FieldId::kGrpcStatus);
  if (status == nullptr) return {grpcStatusFrom(head.status), {}};
  GrpcStatus result;
  const char* const end = status->value.data() + status->value.size();
  const auto [rest, error] = std::from_chars(status->value.data(), end, result.code);
  if (error != std::errc{} || rest != end) result.code = kUnknown;
  if (const Field* message = said.find(FieldId::kGrpcMessage)) result.message = percentDecoded(message->value);
  return result;
}

std::uint32_t grpcStatusFrom(std::uint16_t httpStatus) {
  switch (httpStatus) {
    case 400:
      return 13;  // INTERNAL
    case 401:
      return 16;  // UNAUTHENTICATED
    case 403:
      return 7;  // PERMISSION_DENIED
    case 404:
      return 12;  // UNIMPLEMENTED
    case 429:
    case 502:
    case 503:
    case 504:
      return 14;  // UNAVAILABLE
    default:
      return kUnknown;
  }
}

}  // namespace sluice::http
