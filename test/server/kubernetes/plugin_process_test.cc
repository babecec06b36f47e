// Credential plugins as programs that really run: scripts of the test.
#include "proxy/server/kubernetes/plugin_process.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <utility>

namespace sluice::server {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Returns a plugin that is a script, with the argument "argument".
kubernetes::CredentialPlugin scriptedPlugin(const std::string& script) {
  kubernetes::CredentialPlugin plugin;
  plugin.command = "sh";
  plugin.arguments = {"-c", script, "plugin", "argument; $(exit 3)"};
  plugin.environment = {{"SLUICE_TEST_VARIABLE", "a b"}};
  return plugin;
}

std::string refusalOfPlugin(const kubernetes::CredentialPlugin& plugin, const PluginBounds& bounds = {}) {
  const auto output = runPlugin(plugin, bounds);
  return output.ok() ? "" : output.error().detail;
}

TEST(PluginProcess, PrintsItsOutputWithoutAShellBetween) {
  const auto output = runPlugin(scriptedPlugin("printf '%s|%s|' \"$1\" \"$SLUICE_TEST_VARIABLE\"; cat"));
  ASSERT_TRUE(output.ok()) << output.error().detail;
  EXPECT_EQ(output->reveal(), "argument; $(exit 3)|a b|") << "it has nothing to read";
}

TEST(PluginProcess, ShowsItsOwnMessages) {
  testing::internal::CaptureStderr();
  const std::string refusal = refusalOfPlugin(scriptedPlugin("echo secret; echo 'log in first' >&2; exit 4"));
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "log in first\n");
  EXPECT_EQ(refusal, "the credential plugin \"sh\" ended with exit code 4, and its own messages say why");
}

TEST(PluginProcess, EndsAtABound) {
  const PluginBounds few{.patience = std::chrono::seconds(30), .bytes = 10};
  EXPECT_THAT(refusalOfPlugin(scriptedPlugin("echo secret-secret-secret; exec cat /dev/zero"), few),
              testing::AllOf(HasSubstr("prints more than 10 bytes"), Not(HasSubstr("secret"))));
  EXPECT_EQ(runPlugin(scriptedPlugin("printf 0123456789"), few)->reveal(), "0123456789");
  const PluginBounds brief{.patience = std::chrono::milliseconds(100), .bytes = 10};
  EXPECT_THAT(refusalOfPlugin(scriptedPlugin("exec tail -f /dev/null"), brief),
              HasSubstr("has not ended within 0 seconds"));
  EXPECT_THAT(refusalOfPlugin(scriptedPlugin("exec >/dev/null; exec tail -f /dev/null"), brief),
              HasSubstr("has not ended"));
}

TEST(PluginProcess, DoesNotWaitForWhatThePluginLeavesBehind) {
  const auto output = runPlugin(scriptedPlugin("tail -f /dev/null & echo $!"));
  ASSERT_TRUE(output.ok()) << output.error().detail;
  const std::string left(output->reveal());
  EXPECT_TRUE(runPlugin(scriptedPlugin("kill " + left.substr(0, left.find('\n')))).ok());
}

TEST(PluginProcess, NamesAProgramThatDoesNotExist) {
  kubernetes::CredentialPlugin plugin;
  plugin.command = "/nowhere/cloud";
  plugin.installHint = "install it";
  EXPECT_EQ(refusalOfPlugin(plugin),
            "the credential plugin \"/nowhere/cloud\" cannot be run: No such file or directory; its hint: \"install "
            "it\"");
}

}  // namespace
}  // namespace sluice::server
