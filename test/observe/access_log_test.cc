#include "proxy/observe/access_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>

#include "test/observe/support.h"
#include "test/support/reference_page.h"

namespace sluice::observe {
namespace {

using namespace std::chrono_literals;

constexpr auto kFields = std::to_array<std::string_view>({"time",
                                                          "trace_id",
                                                          "client.address",
                                                          "http.request.method",
                                                          "url.scheme",
                                                          "server.address",
                                                          "url.path",
                                                          "network.protocol.version",
                                                          "http.response.status_code",
                                                          "error.type",
                                                          "error.origin",
                                                          "duration_ms",
                                                          "upstream_duration_ms",
                                                          "request_bytes",
                                                          "response_bytes",
                                                          "upstream.address",
                                                          "gateway",
                                                          "listener",
                                                          "route",
                                                          "backend",
                                                          "namespace",
                                                          "serviceAccount",
                                                          "principal",
                                                          "assurance",
                                                          "attempts",
                                                          "processor",
                                                          "revision",
                                                          "error.message",
                                                          "request_id",
                                                          "span_id",
                                                          "retry_refused",
                                                          "policy",
                                                          "rule",
                                                          "decision",
                                                          "way",
                                                          "network.protocol.name",
                                                          "tls.server_name",
                                                          "tunnel.end"});

const AccessRecord::Proxied kTunnelled{"connect", true, "tls", "api.example.com", "client"};

AccessRecord fullRecord() {
  AccessRecord record;
  record.time = someTime(123ms);
  record.traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
  record.clientAddress = "10.0.0.7";
  record.method = "POST";
  record.scheme = "https";
  record.serverAddress = "api.example.com";
  record.path = "/v1/chat";
  record.protocolVersion = "2";
  record.status = 502;
  record.failure = {base::ErrorType::kTlsCertificateError, base::ErrorOrigin::kUpstream};
  record.duration = 12345us;
  record.upstreamDuration = 9ms;
  record.requestBytes = 10;
  record.responseBytes = 0xffffffffffffffff;
  record.upstreamAddress = "192.0.2.1:443";
  record.gateway = "edge/egress";
  record.listener = "web";
  record.route = "team/chat";
  record.backend = "team/openai";
  record.nameSpace = "team";
  record.serviceAccount = "bot";
  record.principal = "spiffe://corp.test/ns/team/sa/bot";
  record.assurance = "Certificate";
  record.attempts = 2;
  record.processor = "auth";
  record.revision = "r7";
  record.errorMessage = "expired";
  record.requestId = "req-1";
  record.spanId = "00f067aa0ba902b7";
  record.retryRefused = "replayBuffer";
  record.policy = "team/providers";
  record.rule = "ours";
  record.decision = "allowed";
  record.proxied = &kTunnelled;
  return record;
}

class AccessLogTest : public testing::Test {
 protected:
  std::string render(const AccessRecord& record) {
    AccessLog log(file_.get());
    log.append(record);
    log.flush();
    return pipe_.read();
  }
  std::string value(const AccessRecord& record, std::string_view name) {
    const auto members = JsonReader::members(splitLines(render(record)).at(0));
    if (!members) return "not JSON";
    for (const auto& [key, text] : *members) {
      if (key == name) return text;
    }
    return "missing";
  }

  LogPipe pipe_;
  std::unique_ptr<LineFile> file_ = LineFile::over(pipe_.writer());
};

TEST_F(AccessLogTest, WritesAllKnownFieldsOfAnExchange) {
  EXPECT_EQ(
      render(fullRecord()),
      R"({"time":"2026-01-31T23:59:58.123Z","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","client.address":"10.0.0.7",)"
      R"("http.request.method":"POST","url.scheme":"https","server.address":"api.example.com","url.path":"/v1/chat",)"
      R"("network.protocol.version":"2","http.response.status_code":502,"error.type":"tls_certificate_error",)"
      R"("error.origin":"upstream","duration_ms":12.345,"upstream_duration_ms":9.000,"request_bytes":10,)"
      R"("response_bytes":18446744073709551615,"upstream.address":"192.0.2.1:443","gateway":"edge/egress",)"
      R"("listener":"web","route":"team/chat","backend":"team/openai","namespace":"team","serviceAccount":"bot",)"
      R"("principal":"spiffe://corp.test/ns/team/sa/bot","assurance":"Certificate",)"
      R"("attempts":2,"processor":"auth","revision":"r7","error.message":"expired","request_id":"req-1",)"
      R"("span_id":"00f067aa0ba902b7","retry_refused":"replayBuffer","policy":"team/providers","rule":"ours",)"
      R"("decision":"allowed","way":"connect",)"
      R"("network.protocol.name":"tls","tls.server_name":"api.example.com","tunnel.end":"client"})"
      "\n");
}

TEST_F(AccessLogTest, WritesEveryFieldInItsOrderAndNullIfUnknown) {
  for (const AccessRecord& record : {AccessRecord{}, fullRecord()}) {
    const auto members = JsonReader::members(splitLines(render(record)).at(0));
    ASSERT_TRUE(members.has_value());
    // Only requests whose retry was refused, that policies cover, or to forward proxies, have the last ones.
    ASSERT_EQ(members->size(), kFields.size() - (record.policy.empty() ? 8 : 0));
    for (std::size_t i = 0; i < members->size(); ++i) EXPECT_EQ(members->at(i).first, kFields[i]);
  }
  for (const std::string_view name :
       {"trace_id", "client.address", "server.address", "http.response.status_code", "error.type", "error.origin",
        "upstream_duration_ms", "upstream.address", "route", "namespace", "serviceAccount", "principal", "assurance"}) {
    EXPECT_EQ(value({}, name), "null") << name;
  }
  EXPECT_EQ(value({}, "attempts"), "0");
  EXPECT_EQ(value({}, "duration_ms"), "0.000");
}

TEST_F(AccessLogTest, HasItsFieldsInTheReference) {
  const auto members = JsonReader::members(splitLines(render(fullRecord())).at(0));
  ASSERT_TRUE(members.has_value());
  std::vector<std::string> fields;
  for (const auto& member : *members) fields.push_back(member.first);
  const std::string section = test::pageSection(test::referencePage("metrics.md"), "## Access log");
  EXPECT_EQ(test::firstWords(test::pageTable(section, "| field | meaning |")), fields);
}

TEST_F(AccessLogTest, NeverShowsAQueryOrAFragment) {
  AccessRecord record;
  for (const std::string_view path : {"/a/b?token=canary", "/a/b#canary", "/a/b?x#canary"}) {
    record.path = path;
    EXPECT_EQ(value(record, "url.path"), "\"/a/b\"");
  }
  record.path = "?token=canary";
  EXPECT_EQ(value(record, "url.path"), "null");
}

TEST_F(AccessLogTest, StaysOneValidLineForAnyInput) {
  AccessRecord record;
  const std::string evil = "/a\x1b[2J\"\n{\"time\":\"\xff\xed\xa0\x80\x7f\\";
  record.path = record.method = record.clientAddress = record.serverAddress = record.traceId = record.revision =
      record.errorMessage = record.requestId = record.spanId = record.principal = record.serviceAccount = evil;
  const std::string text = render(record);
  const auto lines = splitLines(text);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(JsonReader::members(lines[0]).has_value()) << lines[0];
}

TEST_F(AccessLogTest, BoundsTheLineAndEachText) {
  for (const char filler : {'x', '\x01', '\xff'}) {
    const std::string huge(100'000, filler);
    AccessRecord record = fullRecord();
    record.traceId = record.clientAddress = record.method = record.scheme = record.serverAddress = record.path = huge;
    record.protocolVersion = record.upstreamAddress = record.gateway = record.listener = record.route = huge;
    record.backend = record.nameSpace = record.serviceAccount = record.principal = record.assurance = record.processor =
        record.revision = record.errorMessage = record.requestId = record.spanId = huge;
    record.policy = record.rule = record.decision = huge;
    record.duration = base::Duration::max();
    record.upstreamDuration = base::Duration::max();
    record.status = 65535;
    record.attempts = 0xffffffff;
    record.requestBytes = 0xffffffffffffffff;
    const std::string text = render(record);
    EXPECT_LE(text.size(), AccessLog::kMaxLineBytes);
    EXPECT_TRUE(JsonReader::members(splitLines(text).at(0)).has_value());
  }
  AccessRecord record;
  const std::string fits(AccessLog::kMaxPathBytes, 'x');
  record.path = fits;
  EXPECT_EQ(value(record, "url.path"), "\"" + fits + "\"");
  const std::string tooLong = fits + "x";
  record.path = tooLong;
  EXPECT_EQ(value(record, "url.path").size(), fits.size() + 2);
  const std::string name(AccessLog::kMaxTextBytes, 'n');
  record.route = name;
  EXPECT_EQ(value(record, "route"), "\"" + name + "\"");
}

TEST_F(AccessLogTest, WritesNothingBeforeItIsFlushed) {
  AccessLog log(file_.get());
  log.append({});
  log.append({});
  EXPECT_EQ(pipe_.read(), "");
  EXPECT_GT(log.buffered(), 0u);
  log.flush();
  EXPECT_EQ(splitLines(pipe_.read()).size(), 2u);
  EXPECT_EQ(log.buffered(), 0u);
  log.flush();
  EXPECT_EQ(pipe_.read(), "");
}

TEST_F(AccessLogTest, WantsAFlushWhenABatchIsFull) {
  AccessLog log(file_.get());
  while (!log.wantsFlush()) {
    ASSERT_LT(log.buffered(), AccessLog::kBatchBytes);
    log.append(fullRecord());
  }
  EXPECT_GE(log.buffered(), AccessLog::kBatchBytes);
  log.flush();
  EXPECT_FALSE(log.wantsFlush());
}

TEST(AccessLog, CostsNothingWhenItIsOff) {
  const auto file = openAccessLogFile("off");
  ASSERT_TRUE(file.ok());
  AccessLog log(file->get());
  EXPECT_FALSE(log.enabled());
  log.append(fullRecord());
  log.flush();
  EXPECT_EQ(log.buffered(), 0u);
  EXPECT_FALSE(log.wantsFlush());
  EXPECT_EQ(log.dropped(), 0u);
}

TEST(AccessLog, GoesToTheFileThatTheSettingsName) {
  TempPath temp;
  const auto file = openAccessLogFile(temp.path());
  ASSERT_TRUE(file.ok());
  AccessLog log(file->get());
  log.append(fullRecord());
  log.flush();
  EXPECT_EQ(splitLines(temp.read()).size(), 1u);
  EXPECT_FALSE(openAccessLogFile(temp.path() + "/below/a/file").ok());
  EXPECT_TRUE(openAccessLogFile("/dev/stdout").ok());
}

TEST_F(AccessLogTest, KeepsLinesForABusyReaderAndDropsOnlyBeyondItsBound) {
  AccessLog log(file_.get());
  std::size_t appended = 0;
  while (log.dropped() == 0) {
    log.append(fullRecord());
    ++appended;
    ASSERT_LE(log.buffered(), AccessLog::kMaxBuffered);
    if (log.wantsFlush()) log.flush();
  }
  EXPECT_GT(log.buffered(), AccessLog::kMaxBuffered - AccessLog::kMaxLineBytes);
  EXPECT_FALSE(log.wantsFlush()) << "a stuck reader is not asked for each line";

  std::string seen = pipe_.read();
  for (int i = 0; i < 100 && log.buffered() > 0; ++i) {
    log.flush();
    seen += pipe_.read();
  }
  const auto lines = splitLines(seen);
  EXPECT_EQ(lines.size(), appended - 1) << "one was dropped, the others came once";
  for (const std::string& line : lines) ASSERT_TRUE(JsonReader::members(line).has_value()) << line;

  log.append(fullRecord());
  log.flush();
  EXPECT_EQ(splitLines(pipe_.read()).size(), 1u);
  EXPECT_EQ(log.dropped(), 1u);
}

TEST(AccessLog, DropsAndCountsLinesThatAFullDiskRefuses) {
  const auto file = openAccessLogFile("/dev/full");
  ASSERT_TRUE(file.ok());
  AccessLog log(file->get());
  for (int i = 0; i < 3; ++i) log.append(fullRecord());
  log.flush();
  EXPECT_EQ(log.dropped(), 3u);
  EXPECT_EQ(log.buffered(), 0u);
  log.append(fullRecord());
  log.flush();
  EXPECT_EQ(log.dropped(), 4u);
}

TEST(AccessLog, CountsTheLinesForWhichThereIsNoFile) {
  TempPath temp;
  ASSERT_EQ(::mkdir(temp.path().c_str(), 0700), 0);
  const auto file = LineFile::unopened(temp.path());
  LogPipe said;
  const HandClock clock;
  const Log log(LogLevel::kInfo, clock, LineFile::over(said.writer()));
  Counter losses;
  AccessLog access(file.get(), &log, &losses);
  for (int i = 0; i < 3; ++i) access.append(fullRecord());
  access.flush();
  EXPECT_EQ(losses.value(), 3u);
  EXPECT_EQ(access.dropped(), 3u);
  EXPECT_NE(said.read().find("the file is not open"), std::string::npos);
  ASSERT_EQ(::rmdir(temp.path().c_str()), 0);
  ASSERT_TRUE(file->reopen().ok());
  access.append(fullRecord());
  access.flush();
  EXPECT_EQ(losses.value(), 3u);
  EXPECT_EQ(splitLines(temp.read()).size(), 1u);
}

TEST(AccessLog, ReportsOnceThatLinesAreLostAndOnceHowMany) {
  TempPath temp;
  LogPipe said;
  const HandClock clock;
  const Log log(LogLevel::kInfo, clock, LineFile::over(said.writer()));
  ASSERT_EQ(::mkfifo(temp.path().c_str(), 0600), 0);
  int reader = ::open(temp.path().c_str(), O_RDONLY | O_NONBLOCK);
  const auto file = openAccessLogFile(temp.path());
  ASSERT_TRUE(file.ok());
  std::vector<std::string> told;
  AccessLog access(file->get(), &log, nullptr, [&](std::string_view reason) { told.emplace_back(reason); });
  const auto write = [&] {
    access.append(fullRecord());
    access.flush();
  };
  write();
  EXPECT_EQ(said.read(), "");
  for (int outage = 0; outage < 2; ++outage) {
    ::close(reader);
    for (int i = 0; i < 3; ++i) write();
    const auto lines = splitLines(said.read());
    ASSERT_EQ(lines.size(), 1u);
    EXPECT_NE(lines[0].find("access log lines are being lost"), std::string::npos);
    EXPECT_EQ(told, std::vector<std::string>(outage + 1U, "they cannot be written: a full disk or a closed pipe"));

    reader = ::open(temp.path().c_str(), O_RDONLY | O_NONBLOCK);
    for (int i = 0; i < 3; ++i) write();
    const auto then = splitLines(said.read());
    ASSERT_EQ(then.size(), 1u);
    EXPECT_NE(then[0].find("\"lost\":3"), std::string::npos) << then[0];
  }
  ::close(reader);
}

TEST(AccessLog, RecoversWhenAReaderComesBack) {
  LogPipe other;
  TempPath temp;
  ASSERT_EQ(::mkfifo(temp.path().c_str(), 0600), 0);
  int reader = ::open(temp.path().c_str(), O_RDONLY | O_NONBLOCK);
  const auto file = openAccessLogFile(temp.path());
  ASSERT_TRUE(file.ok());
  AccessLog log(file->get());
  ::close(reader);
  log.append(fullRecord());
  log.flush();
  EXPECT_EQ(log.dropped(), 1u);

  reader = ::open(temp.path().c_str(), O_RDONLY | O_NONBLOCK);
  log.append(fullRecord());
  log.flush();
  std::array<char, 4096> seen{};
  const ssize_t count = ::read(reader, seen.data(), seen.size());
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::string_view(seen.data(), static_cast<std::size_t>(count)).substr(0, 9), "{\"time\":\"");
  EXPECT_EQ(log.dropped(), 1u);
  ::close(reader);
}

}  // namespace
}  // namespace sluice::observe
