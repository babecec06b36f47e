// An error, described once and carried to the places that answer, log and count it.
//
// An Error's origin decides status, retry and log field; its type is `error.type` in logs, metrics and answers: an RFC
// 9209 proxy error type where one exists. A plain value: it may be used on any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace sluice::base {

/// The side that caused the error.
enum class ErrorOrigin : std::uint8_t { kDownstream, kUpstream, kProcessor, kConfig, kInternal };

/// The names of RFC 9209 section 2.3 where it has one, and this project's own where it has none.
enum class ErrorType : std::uint8_t {
  kHttpRequestError,
  kHttpRequestDenied,
  kAuthenticationRequired,
  kProxyAuthenticationRequired,
  kDestinationIpProhibited,
  kDestinationNotFound,
  kMisdirectedRequest,
  kRateLimited,
  kProxyLoopDetected,
  kProxyConfigurationError,
  kProxyInternalError,
  kProcessorFailed,
  kHttpProtocolError,
  kTlsProtocolError,
  kTlsCertificateError,
  kConnectionTerminated,
  kConnectionRefused,
  kDestinationUnavailable,
  kDnsError,
  kConnectionLimitReached,
  kProcessorCapacityReached,
  kConnectionTimeout,
  kDnsTimeout,
  kHttpResponseTimeout,
  kProcessorTimeout,
};

inline constexpr std::size_t kErrorTypeCount = static_cast<std::size_t>(ErrorType::kProcessorTimeout) + 1;

/// Returns "http_request_error" and so on.
std::string_view errorTypeName(ErrorType type);
/// Returns true for the errors of a TLS connection.
constexpr bool isOfTls(ErrorType type) {
  return type == ErrorType::kTlsProtocolError || type == ErrorType::kTlsCertificateError;
}
/// Returns "downstream", "upstream", "processor", "config" or "internal".
std::string_view errorOriginName(ErrorOrigin origin);
/// Returns the HTTP status that answers this type unless the error names another (RFC 9209 recommends one per type).
std::uint16_t defaultStatus(ErrorType type);

struct Error;
/// Returns true if a connection to a Backend could not be made, or was lost. Refusals of the gateway's own limits and
/// rules are no such errors, and neither are answers that break HTTP.
bool isOfConnection(const Error& error);

struct Error {
  ErrorType type = ErrorType::kProxyInternalError;
  ErrorOrigin origin = ErrorOrigin::kInternal;
  /// HTTP status code of the answer: 400..599, or 200..599 in the answer of a processor.
  std::uint16_t status = 500;
  /// One short sentence for people. It contains no secret and no unescaped input.
  std::string detail;
  /// A detail that appears in logs and is not sent to clients: "10.0.0.9 is private". It contains no secret either.
  std::string note = {};
  /// The last address that was tried or refused; empty if there was none. For logs.
  std::string address = {};
  /// The key in settings.yaml of the limit or timeout that was hit; empty if none was. The text outlives the error.
  std::string_view limit = {};

  Error() = default;
  Error(ErrorType errorType, ErrorOrigin errorOrigin, std::string text)
      : type(errorType), origin(errorOrigin), status(defaultStatus(errorType)), detail(std::move(text)) {}

  /// Returns the error with the limit that was hit.
  Error ofLimit(std::string_view key) && {
    limit = key;
    return std::move(*this);
  }
  /// Returns the text for logs: the detail and the note.
  std::string message() const { return note.empty() ? detail : detail + ": " + note; }

  /// Returns an error of the client's request, with the status that names it best: 400, 408, 413, 414, 415, 417, 431,
  /// 501.
  static Error badRequest(std::uint16_t code, std::string text) {
    Error error(ErrorType::kHttpRequestError, ErrorOrigin::kDownstream, std::move(text));
    error.status = code;
    return error;
  }
  static Error upstream(ErrorType errorType, std::string text) {
    return Error(errorType, ErrorOrigin::kUpstream, std::move(text));
  }
  static Error config(std::string text) {
    return Error(ErrorType::kProxyConfigurationError, ErrorOrigin::kConfig, std::move(text));
  }
  static Error internal(std::string text) {
    return Error(ErrorType::kProxyInternalError, ErrorOrigin::kInternal, std::move(text));
  }
};

}  // namespace sluice::base
