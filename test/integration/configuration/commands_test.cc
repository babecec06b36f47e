// Tests the commands that judge a configuration before it is served, and the admin port's answer to the same question.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/sluice_command.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

const std::string kClassAndGateway =
    "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: test}\n"
    "spec: {controllerName: sluice.dev/egress-gateway}\n---\n"
    "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {namespace: test, name: egress}\nspec:\n"
    "  gatewayClassName: test\n  addresses: [{type: IPAddress, value: 127.0.0.1}]\n"
    "  listeners: [{name: http, protocol: HTTP, port: PORT}]\n";

std::string atPort(std::uint16_t port) {
  std::string text = kClassAndGateway;
  return text.replace(text.find("PORT"), 4, std::to_string(port));
}

TEST(Validate, TriesToListenIfItIsAskedTo) {
  const RawOrigin occupant(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const TempDir folder;
  const std::string taken = folder.write("taken.yaml", atPort(occupant.port()));
  EXPECT_EQ(sluice({"validate", "--config", taken}).exitCode, 0);
  const ProgramOutcome live = sluice({"validate", "--live", "--config", taken});
  EXPECT_EQ(live.exitCode, 1);
  EXPECT_THAT(live.output, HasSubstr("Address already in use"));
  EXPECT_EQ(sluice({"validate", "--live", "--config", folder.write("free.yaml", atPort(freePort()))}).exitCode, 0);
}

TEST(Validate, TakesEachFolderBelowAsAConfiguration) {
  const TempDir folder;
  for (const char* name : {"/a", "/b/c"}) std::filesystem::create_directories(folder.path() + name);
  folder.write("a/gateway.yaml", atPort(8081));
  folder.write("b/gateway.yaml", atPort(8082));
  folder.write("b/c/gateway.yaml", "kind: Nothing\n");
  const std::string b = folder.path() + "/b";
  EXPECT_EQ(sluice({"validate", folder.path() + "/a", "-q"}).output, "");
  EXPECT_EQ(sluice({"validate", b, b + "/"}).exitCode, 0) << "the folder alone, and once";
  const ProgramOutcome all = sluice({"validate", "-R", folder.path(), b});
  EXPECT_EQ(all.exitCode, 1);
  std::string headings;
  std::istringstream lines(all.output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("==> ")) headings += line.substr(4 + folder.path().size()) + " ";
  }
  EXPECT_EQ(headings, "/a /b /b/c ");
  const ProgramOutcome document = sluice({"validate", folder.path(), "-q", "-o", "json"});
  EXPECT_EQ(document.exitCode, 1);
  EXPECT_TRUE(document.output.starts_with(R"({"valid":false,"configurations":[{"paths":[")" + folder.path() +
                                          R"(/a"],"valid":true,"problems":[]},{"paths":)"))
      << document.output;
  EXPECT_THAT(sluice({"validate", b + "/c", "-o", "github"}).output,
              HasSubstr("::error file=" + b + "/c/gateway.yaml,line=1,col=7,title=Nothing::"));
}

TEST(Validate, PrintsYamlOfAnyLength) {
  const TempDir folder;
  std::string text;
  for (int i = 0; i < 10'000; ++i) text += "---\nkind: Nothing\n";
  const ProgramOutcome all = sluice({"validate", folder.write("a.yaml", text), "-q", "-o", "yaml"});
  EXPECT_EQ(all.exitCode, 1);
  EXPECT_GT(all.output.size(), 1024U * 1024);
  EXPECT_THAT(all.output, testing::StartsWith("valid: false\nconfigurations:\n"));
}

TEST(Diff, SaysWhatWouldChange) {
  const TempDir folder;
  const std::string before = folder.write("before.yaml", atPort(8081));
  const std::string after = folder.write("after.yaml", atPort(8082));
  const ProgramOutcome same = sluice({"diff", before, before});
  EXPECT_EQ(same.exitCode, 0);
  EXPECT_EQ(same.output, "no differences\n");
  const ProgramOutcome moved = sluice({"diff", before, after});
  EXPECT_EQ(moved.exitCode, 1);
  EXPECT_THAT(moved.output, HasSubstr("- listener 127.0.0.1:8081: its clients' connections are drained\n"));
  EXPECT_THAT(moved.output, HasSubstr("+ listener 127.0.0.1:8082\n"));
  EXPECT_THAT(sluice({"diff", "-o", "yaml", before, after}).output, HasSubstr("- change: \"removed\"\n"));
  const ProgramOutcome broken = sluice({"diff", before, folder.write("broken.yaml", "{[")});
  EXPECT_EQ(broken.exitCode, 1);
  EXPECT_THAT(broken.errors, HasSubstr("broken.yaml cannot be served:\n"));
}

TEST(Explain, AsksARunningGatewayIfThereIsNoConfiguration) {
  const RawOrigin origin(RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
  const GatewayProcess gateway({.backends = {{.port = origin.port()}}});
  const std::string admin = "127.0.0.1:" + std::to_string(gateway.adminPort());
  const ProgramOutcome wrong = sluice({"explain", "--admin", admin, "--url", "nonsense"});
  EXPECT_EQ(wrong.exitCode, 2);
  EXPECT_THAT(wrong.errors, HasSubstr("it has no scheme"));
  const ProgramOutcome text = sluice({"explain", "--admin", admin, "--url", gateway.url("/x?y=z"), "-H", "x-a: b"});
  EXPECT_EQ(text.exitCode, 0) << text.errors;
  EXPECT_THAT(text.output, HasSubstr("test/all"));
  EXPECT_THAT(text.output, HasSubstr("test/origin"));
  EXPECT_THAT(sluice({"explain", "--admin", admin, "--url", gateway.url("/"), "-o", "json"}).output,
              testing::StartsWith("{"));
}

class PostedValidation : public testing::Test {
 protected:
  static ReceivedResponse post(const GatewayProcess& gateway, const std::string& text, const std::string& more = {},
                               const std::string& query = {}) {
    return askRaw(gateway.adminPort(), "POST /validate" + query + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + more +
                                           "Content-Length: " + std::to_string(text.size()) + "\r\n\r\n" + text);
  }
  GatewaySpec spec() const { return {.backends = {{.port = origin_.port()}}}; }

  RawOrigin origin_{RawOrigin::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")};
};

TEST_F(PostedValidation, GivesTheVerdictOfApplyingAndAppliesNothing) {
  GatewayProcess gateway(spec());
  const std::string status = gateway.adminGet("/status");
  const ReceivedResponse good = post(gateway, atPort(8081));
  EXPECT_EQ(good.status, 200);
  EXPECT_THAT(good.body, HasSubstr("{\"valid\":true,\"state\":\"InSync\",\"desired\":\""));
  EXPECT_THAT(good.body, HasSubstr("\"name\":\"egress\""));
  EXPECT_THAT(post(gateway, "{[").body, HasSubstr("{\"valid\":false,\"state\":\"Rollback\","));
  std::string misspelt = atPort(8081);
  misspelt.replace(misspelt.find("gatewayClassName"), 16, "gatewayClassNam");
  const std::string verdict = post(gateway, misspelt).body;
  EXPECT_THAT(verdict, HasSubstr("\"line\":10,"));
  EXPECT_THAT(verdict, HasSubstr("its previous valid version serves on")) << "as if it followed what is served";
  EXPECT_EQ(gateway.adminGet("/status"), status);
  // The verdict is that of applying the same text.
  const std::string desired = good.body.substr(good.body.find("\"desired\""), 24);
  gateway.reloadText(atPort(8081), "success");
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(desired));
}

TEST_F(PostedValidation, TriesThePlacesIfAsked) {
  const GatewayProcess gateway(spec());
  const auto live = [&](const std::string& text) { return post(gateway, text, "", "?live=true").body; };
  EXPECT_THAT(live(atPort(gateway.port())), HasSubstr("\"valid\":true")) << "it is the process's own";
  EXPECT_THAT(live(atPort(freePort())), HasSubstr("\"valid\":true"));
  const std::string taken = atPort(origin_.port());
  EXPECT_THAT(post(gateway, taken).body, HasSubstr("\"valid\":true")) << "nobody has asked";
  EXPECT_THAT(live(taken), HasSubstr("\"valid\":false,\"state\":\"InSync\""));
  EXPECT_THAT(live(taken), HasSubstr("cannot listen on 127.0.0.1:" + std::to_string(origin_.port())));
  EXPECT_EQ(post(gateway, taken, "", "?alive").status, 400);
}

TEST_F(PostedValidation, IsNotForWebPagesAndCanBeTurnedOff) {
  const GatewayProcess gateway(spec());
  EXPECT_EQ(post(gateway, atPort(8081), "Origin: http://127.0.0.1\r\n").status, 403);
  EXPECT_EQ(
      askRaw(gateway.adminPort(), "POST /validate HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 0\r\n\r\n").status,
      403);
  GatewaySpec off = spec();
  off.options = {"--admin-validate=false"};
  const GatewayProcess silent(off);
  EXPECT_EQ(post(silent, atPort(8081)).status, 405);
}

}  // namespace
}  // namespace sluice::test
