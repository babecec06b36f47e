// Forwarded fields of clients and of proxies before the gateway are handled by the mode that the settings choose.
#include "proxy/exchange/transaction/forwarded.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

namespace sluice::exchange {
namespace {

using base::ForwardedHeaders;

class Forwarded : public ::testing::Test {
 protected:
  /// Returns the fields that the backend gets, as lines.
  std::string written(ForwardedHeaders mode, std::uint32_t trustedHops,
                      const std::vector<std::pair<std::string_view, std::string_view>>& fields) {
    http::Headers headers;
    for (const auto& [name, value] : fields) headers.add(arena_, name, value);
    writeForwarded(arena_, headers, {mode, trustedHops}, "192.0.2.7", true, "asked.test");
    std::string lines;
    for (const http::Field& field : headers) lines.append(field.name).append(": ").append(field.value).append("\n");
    return lines;
  }

  base::ChunkPool pool_;
  base::Arena arena_{pool_};
};

constexpr std::string_view kFor = "x-forwarded-for";
const std::string kOwn = "x-forwarded-proto: https\nx-forwarded-host: asked.test\n";

TEST_F(Forwarded, FieldsAreRecognizedByTheirTwinsToo) {
  const auto known = [](std::string_view name) { return isForwarded({name, "", http::fieldId(name)}); };
  for (const char* name : {"forwarded", "x-forwarded-for", "x_forwarded_for", "x-forwarded_proto",
                           "x-forwarded-client-cert", "x-real-ip", "x_real_ip"}) {
    EXPECT_TRUE(known(name)) << name;
  }
  for (const char* name : {"", "x", "x-forwarded", "forwarded-for", "x-real-ipv6", "x-forward-for", "via"}) {
    EXPECT_FALSE(known(name)) << name;
  }
}

TEST_F(Forwarded, OffSendsBackendsNothing) {
  EXPECT_EQ(written(ForwardedHeaders::kOff, 3, {{kFor, "1.1.1.1"}, {"x_real_ip", "1.1.1.1"}, {"x-a", "1"}}),
            "x-a: 1\n");
}

TEST_F(Forwarded, AppendAddsTheAddressOfTheClient) {
  EXPECT_EQ(written(ForwardedHeaders::kAppend, 0, {}), "x-forwarded-for: 192.0.2.7\n" + kOwn);
  EXPECT_EQ(written(ForwardedHeaders::kAppend, 0,
                    {{kFor, "1.1.1.1"},
                     {"x_forwarded_for", "9.9.9.9"},
                     {kFor, "2.2.2.2,3.3.3.3"},
                     {"x-forwarded-proto", "http"}}),
            "x-forwarded-for: 1.1.1.1, 2.2.2.2, 3.3.3.3, 192.0.2.7\n" + kOwn);
}

TEST_F(Forwarded, OverwriteSendsTheClientAlone) {
  EXPECT_EQ(written(ForwardedHeaders::kOverwrite, 0, {{kFor, "127.0.0.1"}}), "x-forwarded-for: 192.0.2.7\n" + kOwn);
}

TEST_F(Forwarded, OverwriteUsesTheEntriesOfTrustedProxies) {
  const auto client = [this](std::uint32_t hops, std::string_view chain) {
    const std::string lines = written(ForwardedHeaders::kOverwrite, hops, {{kFor, chain}});
    return lines.substr(0, lines.find('\n'));
  };
  EXPECT_EQ(client(1, "127.0.0.1, 1.1.1.1"), "x-forwarded-for: 1.1.1.1") << "the rest is the client's own word";
  EXPECT_EQ(client(2, "127.0.0.1, 1.1.1.1, 10.0.0.1"), "x-forwarded-for: 1.1.1.1");
  EXPECT_EQ(client(2, "1.1.1.1, 10.0.0.1"), "x-forwarded-for: 1.1.1.1");
  EXPECT_EQ(client(1, "2001:db8::1"), "x-forwarded-for: 2001:db8::1");
  EXPECT_EQ(client(2, "1.1.1.1"), "x-forwarded-for: 192.0.2.7") << "it did not come through both";
  EXPECT_EQ(client(1, ""), "x-forwarded-for: 192.0.2.7");
  EXPECT_EQ(client(1, "unknown"), "x-forwarded-for: 192.0.2.7");
}

TEST_F(Forwarded, TrustedProxiesKnowSchemeAndHostBetter) {
  for (const auto mode : {ForwardedHeaders::kAppend, ForwardedHeaders::kOverwrite}) {
    const std::string kept =
        written(mode, 1, {{"x-forwarded-proto", "http"}, {"x-forwarded-host", "shop.test"}, {kFor, "1.1.1.1"}});
    EXPECT_TRUE(kept.ends_with("x-forwarded-proto: http\nx-forwarded-host: shop.test\n")) << kept;
    const std::string twice = written(mode, 1, {{"x-forwarded-proto", "http"}, {"x-forwarded-proto", "https"}});
    EXPECT_TRUE(twice.ends_with(kOwn)) << twice;
    const std::string strange = written(mode, 1, {{"x-forwarded-proto", "gopher"}});
    EXPECT_TRUE(strange.ends_with(kOwn)) << strange;
  }
}

}  // namespace
}  // namespace sluice::exchange
