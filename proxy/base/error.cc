#include "proxy/base/error.h"

#include <array>

namespace sluice::base {
namespace {

struct TypeFacts {
  std::string_view name;
  std::uint16_t status;
};

constexpr std::array<TypeFacts, kErrorTypeCount> kTypes{{
    {"http_request_error", 400},
    {"http_request_denied", 403},
    {"authentication_required", 401},
    {"proxy_authentication_required", 407},
    {"destination_ip_prohibited", 403},
    {"destination_not_found", 404},
    {"misdirected_request", 421},
    {"rate_limited", 429},
    {"proxy_loop_detected", 508},
    {"proxy_configuration_error", 500},
    {"proxy_internal_error", 500},
    {"processor_failed", 500},
    {"http_protocol_error", 502},
    {"tls_protocol_error", 502},
    {"tls_certificate_error", 502},
    {"connection_terminated", 502},
    {"connection_refused", 503},
    {"destination_unavailable", 503},
    {"dns_error", 503},
    {"connection_limit_reached", 503},
    {"processor_capacity_reached", 503},
    {"connection_timeout", 504},
    {"dns_timeout", 504},
    {"http_response_timeout", 504},
    {"processor_timeout", 504},
}};

constexpr std::array<std::string_view, 5> kOrigins{"downstream", "upstream", "processor", "config", "internal"};

}  // namespace

std::string_view errorTypeName(ErrorType type) { return kTypes[static_cast<std::size_t>(type)].name; }

std::string_view errorOriginName(ErrorOrigin origin) { return kOrigins[static_cast<std::size_t>(origin)]; }

bool isOfConnection(const Error& error) {
  if (error.origin != ErrorOrigin::kUpstream) return false;
  switch (error.type) {
    case ErrorType::kTlsProtocolError:
    case ErrorType::kTlsCertificateError:
    case ErrorType::kConnectionTerminated:
    case ErrorType::kConnectionRefused:
    case ErrorType::kConnectionTimeout:
    case ErrorType::kDnsError:
    case ErrorType::kDnsTimeout:
      return true;
    default:
      return false;
  }
}

std::uint16_t defaultStatus(ErrorType type) { return kTypes[static_cast<std::size_t>(type)].status; }

}  // namespace sluice::base
