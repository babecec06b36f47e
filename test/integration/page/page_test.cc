// Tests the page of the admin port in a browser, as people use it: with a mouse, a keyboard, a phone or a screen
// reader, and with names that strangers have chosen.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "test/integration/page/browser.h"
#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/node/node.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/route.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

/// One browser for all tests, each of which has a gateway and pages of its own.
class PageInABrowser : public testing::Test {
 protected:
  static void SetUpTestSuite() { browser_ = std::make_unique<Browser>(); }
  static void TearDownTestSuite() { browser_.reset(); }

  std::string adminUrl() const { return "http://127.0.0.1:" + std::to_string(gateway_.adminPort()); }
  /// Runs one of the checks in clients/page/checks.mjs, which play states to the gateway's own page.
  void expectCheck(const std::string& name) const {
    const ProgramOutcome got = runNode("page/checks.mjs", {browser_->endpoint(), adminUrl(), name});
    EXPECT_EQ(got.exitCode, 0) << got.output << got.errors;
  }
  GatewaySpec withRoute(const std::string& backend, const std::string& settings = {}) const {
    GatewaySpec spec = towards(origin_, settings);
    spec.routes = routeOfRules("    - backendRefs: [" + backendRef(backend) + "]\n");
    return spec;
  }

  static std::unique_ptr<Browser> browser_;
  RawOrigin origin_{RawOrigin::answering(kOk)};
  GatewayProcess gateway_{withRoute("origin")};
};

std::unique_ptr<Browser> PageInABrowser::browser_;

TEST_F(PageInABrowser, ShowsNamesAndMessagesAsText) { expectCheck("namesAreText"); }

TEST_F(PageInABrowser, RunsNothingButItsOwnFiles) { expectCheck("scriptsOfTheDocumentDoNotRun"); }

TEST_F(PageInABrowser, ServesKeyboardsAndScreenReaders) { expectCheck("servesKeyboardsAndScreenReaders"); }

TEST_F(PageInABrowser, FitsScreensOf360PixelsAndMore) { expectCheck("fitsScreensOfAnyWidth"); }

TEST_F(PageInABrowser, FindsOneOf5000Routes) { expectCheck("findsOneRouteOf5000"); }

TEST_F(PageInABrowser, SaysSinceWhenTheConnectionIsLost) { expectCheck("showsALostConnection"); }

TEST_F(PageInABrowser, ShowsFaultsWhenTheyAreMade) {
  ChildProcess looker({"node", std::string(kClients) + "page/faults.mjs", browser_->endpoint(), adminUrl() + "/",
                       gateway_.url("/items"), "HTTPRoute test/all|spec.rules[0].backendRefs[0]",
                       "<img src=x onerror=alert(1)>"});
  const auto explained = looker.waitForLine("explained: ");
  ASSERT_TRUE(explained) << looker.errors();
  EXPECT_THAT(*explained, HasSubstr("HTTPRoute test/all sends it to test/origin."));
  gateway_.reload(withRoute("gone"));
  EXPECT_TRUE(looker.waitUntilSaid("seen: ✓InSync", 1)) << looker.errors();
  gateway_.reload(withRoute("origin", "'<img src=x onerror=alert(1)>': 1\n"), "failure");
  EXPECT_TRUE(looker.waitUntilSaid("seen: ✕Rollback", 1)) << looker.errors();
  EXPECT_EQ(looker.wait(), 0) << looker.errors();
}

}  // namespace
}  // namespace sluice::test
