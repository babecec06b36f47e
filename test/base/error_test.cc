#include "proxy/base/error.h"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <vector>

#include "test/support/reference_page.h"

namespace sluice::base {
namespace {

struct ErrorRow {
  ErrorType type;
  std::string_view name;
  std::uint16_t status;
};

// The product's table of the gateway's local replies.
constexpr std::array<ErrorRow, kErrorTypeCount> kRows{{
    {ErrorType::kHttpRequestError, "http_request_error", 400},
    {ErrorType::kHttpRequestDenied, "http_request_denied", 403},
    {ErrorType::kAuthenticationRequired, "authentication_required", 401},
    {ErrorType::kProxyAuthenticationRequired, "proxy_authentication_required", 407},
    {ErrorType::kDestinationIpProhibited, "destination_ip_prohibited", 403},
    {ErrorType::kDestinationNotFound, "destination_not_found", 404},
    {ErrorType::kMisdirectedRequest, "misdirected_request", 421},
    {ErrorType::kRateLimited, "rate_limited", 429},
    {ErrorType::kProxyLoopDetected, "proxy_loop_detected", 508},
    {ErrorType::kProxyConfigurationError, "proxy_configuration_error", 500},
    {ErrorType::kProxyInternalError, "proxy_internal_error", 500},
    {ErrorType::kProcessorFailed, "processor_failed", 500},
    {ErrorType::kHttpProtocolError, "http_protocol_error", 502},
    {ErrorType::kTlsProtocolError, "tls_protocol_error", 502},
    {ErrorType::kTlsCertificateError, "tls_certificate_error", 502},
    {ErrorType::kConnectionTerminated, "connection_terminated", 502},
    {ErrorType::kConnectionRefused, "connection_refused", 503},
    {ErrorType::kDestinationUnavailable, "destination_unavailable", 503},
    {ErrorType::kDnsError, "dns_error", 503},
    {ErrorType::kConnectionLimitReached, "connection_limit_reached", 503},
    {ErrorType::kProcessorCapacityReached, "processor_capacity_reached", 503},
    {ErrorType::kConnectionTimeout, "connection_timeout", 504},
    {ErrorType::kDnsTimeout, "dns_timeout", 504},
    {ErrorType::kHttpResponseTimeout, "http_response_timeout", 504},
    {ErrorType::kProcessorTimeout, "processor_timeout", 504},
}};

TEST(ErrorTable, NamesEveryTypeAndItsStatusAsTheProductDoes) {
  std::set<ErrorType> seen;
  for (const ErrorRow& row : kRows) {
    EXPECT_EQ(errorTypeName(row.type), row.name);
    EXPECT_EQ(defaultStatus(row.type), row.status) << row.name;
    seen.insert(row.type);
  }
  EXPECT_EQ(seen.size(), kErrorTypeCount) << "each type once";
}

TEST(ErrorTable, NamesEveryOrigin) {
  EXPECT_EQ(errorOriginName(ErrorOrigin::kDownstream), "downstream");
  EXPECT_EQ(errorOriginName(ErrorOrigin::kUpstream), "upstream");
  EXPECT_EQ(errorOriginName(ErrorOrigin::kProcessor), "processor");
  EXPECT_EQ(errorOriginName(ErrorOrigin::kConfig), "config");
  EXPECT_EQ(errorOriginName(ErrorOrigin::kInternal), "internal");
}

TEST(ErrorTable, IsInTheReferenceWithStatusCauseAndRemedy) {
  const auto rows = test::pageTable(test::referencePage("errors.md"), "| code | status | cause | what to do |");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kErrorTypeCount; ++i) names.emplace_back(errorTypeName(static_cast<ErrorType>(i)));
  ASSERT_EQ(test::firstWords(rows), names) << "all codes, in their order, and no others";
  for (std::size_t i = 0; i < kErrorTypeCount; ++i) {
    ASSERT_EQ(rows[i].size(), 4u) << names[i];
    EXPECT_EQ(rows[i][1], std::to_string(defaultStatus(static_cast<ErrorType>(i)))) << names[i];
    EXPECT_FALSE(rows[i][2].empty() || rows[i][3].empty()) << names[i];
  }
}

TEST(ErrorTable, HasItsOriginsInTheReference) {
  const auto rows = test::pageTable(test::referencePage("errors.md"), "| origin | whose fault |");
  std::vector<std::string> names;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(ErrorOrigin::kInternal); ++i) {
    names.emplace_back(errorOriginName(static_cast<ErrorOrigin>(i)));
  }
  EXPECT_EQ(test::firstWords(rows), names);
}

TEST(Error, HasTheStatusOfItsType) {
  const Error error(ErrorType::kRateLimited, ErrorOrigin::kDownstream, "slow down");
  EXPECT_EQ(error.status, 429);
  EXPECT_EQ(error.detail, "slow down");
}

TEST(Error, IsOfAConnectionOnlyIfTheBackendCouldNotBeReached) {
  const auto isOf = [](ErrorType type) { return isOfConnection(Error::upstream(type, "no")); };
  for (const ErrorType type :
       {ErrorType::kConnectionRefused, ErrorType::kConnectionTimeout, ErrorType::kDnsError, ErrorType::kDnsTimeout,
        ErrorType::kConnectionTerminated, ErrorType::kTlsProtocolError, ErrorType::kTlsCertificateError}) {
    EXPECT_TRUE(isOf(type)) << errorTypeName(type);
  }
  for (const ErrorType type : {ErrorType::kConnectionLimitReached, ErrorType::kDestinationIpProhibited,
                               ErrorType::kDestinationUnavailable, ErrorType::kHttpRequestDenied}) {
    EXPECT_FALSE(isOf(type)) << errorTypeName(type);
  }
  EXPECT_FALSE(isOfConnection({ErrorType::kConnectionTerminated, ErrorOrigin::kDownstream, "the client has gone"}));
}

TEST(Error, IsInternalByDefault) {
  const Error error;
  EXPECT_EQ(error.type, ErrorType::kProxyInternalError);
  EXPECT_EQ(error.origin, ErrorOrigin::kInternal);
  EXPECT_EQ(error.status, 500);
}

TEST(Error, HasDownstreamOriginAndTheGivenStatusForABadRequest) {
  for (const std::uint16_t status : std::to_array<std::uint16_t>({400, 405, 408, 413, 414, 417, 431, 501})) {
    const Error error = Error::badRequest(status, "why");
    EXPECT_EQ(error.type, ErrorType::kHttpRequestError);
    EXPECT_EQ(error.origin, ErrorOrigin::kDownstream);
    EXPECT_EQ(error.status, status);
  }
}

TEST(Error, HasTheOriginOfTheFunctionThatMakesIt) {
  const Error upstream = Error::upstream(ErrorType::kTlsCertificateError, "expired");
  EXPECT_EQ(upstream.origin, ErrorOrigin::kUpstream);
  EXPECT_EQ(upstream.status, 502);
  const Error config = Error::config("typo");
  EXPECT_EQ(config.origin, ErrorOrigin::kConfig);
  EXPECT_EQ(config.type, ErrorType::kProxyConfigurationError);
  const Error internal = Error::internal("bug");
  EXPECT_EQ(internal.origin, ErrorOrigin::kInternal);
  EXPECT_EQ(internal.type, ErrorType::kProxyInternalError);
}

}  // namespace
}  // namespace sluice::base
