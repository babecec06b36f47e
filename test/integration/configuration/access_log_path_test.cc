// Tests the gateway whose access log cannot be opened: it serves without it, says so everywhere, and opens it later.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/http1.h"
#include "test/integration/support/raw_origin.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class AccessLogPath : public testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/access.log"; }
  GatewaySpec logging(const std::string& path) const {
    GatewaySpec spec = towards(origin_);
    spec.accessLog = path;
    return spec;
  }
  static void ask(const GatewayProcess& gateway) {
    BlockingSocket client = BlockingSocket::connect(gateway.port());
    EXPECT_EQ(askRaw(client).status, 200);
  }

  const TempDir folder_;
  const RawOrigin origin_{RawOrigin::answering(kOk)};
};

TEST_F(AccessLogPath, ThatCannotBeOpenedIsNoReasonNotToServe) {
  std::filesystem::create_directory(path());
  GatewayProcess gateway(logging(path()));
  for (int i = 0; i < 3; ++i) ask(gateway);
  EXPECT_TRUE(gateway.process().waitForLine("serving without the access log"));
  EXPECT_TRUE(gateway.reaches("sluice_log_lines_dropped_total", 3));
  EXPECT_THAT(gateway.adminGet("/events"),
              HasSubstr(R"("reason":"AccessLogUnavailable","object":"ConfigMap test/settings")"));
  const std::string status = gateway.adminGet("/status");
  EXPECT_THAT(status, AllOf(HasSubstr(R"("state":"InSync")"), HasSubstr(R"("object":"ConfigMap test/settings")"),
                            HasSubstr(R"("field":"settings.yaml: accessLog.path")"), HasSubstr("Is a directory")));
  const std::string admin = "127.0.0.1:" + std::to_string(gateway.adminPort());
  const ProgramOutcome without = sluice({"status", "--admin", admin});
  EXPECT_THAT(without.output,
              HasSubstr("ConfigMap test/settings: settings.yaml: accessLog.path: cannot open " + path()));
  EXPECT_EQ(without.exitCode, 1);
  EXPECT_TRUE(gateway.reaches("sluice_config_degraded", 1));

  std::filesystem::remove(path());
  EXPECT_TRUE(gateway.process().waitForLine("the access log is open"));
  EXPECT_TRUE(eventually([&] { return gateway.adminGet("/status").find("accessLog.path") == std::string::npos; }));
  EXPECT_THAT(gateway.metrics(), HasSubstr("\nsluice_config_degraded 0\n"));
  EXPECT_EQ(sluice({"status", "--admin", admin}).exitCode, 0);
  EXPECT_THAT(gateway.adminGet("/events"), HasSubstr("AccessLogOpened"));
  ask(gateway);
  EXPECT_TRUE(
      eventually([&] { return readFile(path()).find("\"http.request.method\":\"GET\"") != std::string::npos; }));
}

TEST_F(AccessLogPath, OfAPipeThatNobodyReadsIsAFaultUntilSomebodyDoes) {
  ASSERT_EQ(::mkfifo(path().c_str(), 0600), 0);
  const GatewayProcess gateway(logging(path()));
  ask(gateway);
  EXPECT_TRUE(gateway.reaches("sluice_config_degraded", 1));
  EXPECT_THAT(gateway.adminGet("/status"),
              AllOf(HasSubstr(R"("kind":"ConfigMap","namespace":"test","name":"settings","reason":"Invalid")"),
                    HasSubstr("accessLog.path: cannot open " + path())));
  const int reader = ::open(path().c_str(), O_RDONLY | O_NONBLOCK);
  EXPECT_TRUE(eventually([&] { return gateway.metric("sluice_config_degraded") == 0; }));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(R"("problems":[])"));
  ::close(reader);
}

TEST_F(AccessLogPath, OnAFullDiskHasItsLossesCounted) {
  const GatewayProcess gateway(logging("/dev/full"));
  for (int i = 0; i < 3; ++i) ask(gateway);
  EXPECT_TRUE(gateway.reaches("sluice_log_lines_dropped_total", 3));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr(R"("problems":[])")) << "it could be opened";
  EXPECT_TRUE(eventually([&] {
    return gateway.adminGet("/events").find(
               R"("reason":"AccessLogLinesLost","object":"ConfigMap test/settings","message":"access log lines are )"
               R"(being lost: they cannot be written: a full disk)") != std::string::npos;
  }));
}

TEST_F(AccessLogPath, IsReportedByAReloadBeforeTheNextStartFindsIt) {
  GatewayProcess gateway(logging(path()));
  gateway.reload(logging(folder_.path() + "/none/access.log"));
  EXPECT_TRUE(gateway.process().waitForLine("accessLog.path: cannot open"));
  EXPECT_THAT(gateway.adminGet("/status"), HasSubstr("none/access.log for writing: No such file or directory"));
  ask(gateway);
  EXPECT_TRUE(eventually([&] { return readFile(path()).ends_with("}\n"); })) << "the file of the start is still used";
}

TEST_F(AccessLogPath, IsAFindingOfTheCommandsThatJudgeAConfiguration) {
  const GatewayProcess gateway(logging(path()));
  std::string text = gateway.configuration();
  const std::string good = folder_.write("good.yaml", text);
  const std::string missing = folder_.path() + "/none/access.log";
  const std::string bad = folder_.write("bad.yaml", text.replace(text.find(path()), path().size(), missing));
  const std::string finding = "ConfigMap test/settings: settings.yaml: accessLog.path: cannot open " + missing;

  EXPECT_THAT(sluice({"validate", good, "-q"}).output, "");
  const ProgramOutcome elsewhere = sluice({"validate", bad, "-q"});
  EXPECT_EQ(elsewhere.exitCode, 0) << "it may be served on another machine";
  EXPECT_THAT(elsewhere.output, AllOf(HasSubstr("bad.yaml:"), HasSubstr("warning: " + finding)));
  const ProgramOutcome here = sluice({"validate", "--live", bad, "-q"});
  EXPECT_EQ(here.exitCode, 1);
  EXPECT_THAT(here.output, HasSubstr("error: " + finding));
  EXPECT_FALSE(std::filesystem::exists(missing));
  EXPECT_THAT(sluice({"diff", good, bad}).output, HasSubstr("+ problem " + finding));
}

}  // namespace
}  // namespace sluice::test
