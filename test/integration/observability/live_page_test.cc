// /page/data of the real binary: a fault shows once it is made, for those who look; and `sluice top` shows the same.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "test/integration/support/gateway_process.h"
#include "test/integration/support/sluice_command.h"
#include "test/integration/support/waiting.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A gateway whose Backend refuses connections.
class LookedAtGateway : public testing::Test {
 protected:
  std::string page() const { return "http://127.0.0.1:" + std::to_string(gateway_.adminPort()) + "/page/data"; }
  std::string admin() const { return "127.0.0.1:" + std::to_string(gateway_.adminPort()); }
  void fail() const {
    BlockingSocket client = BlockingSocket::connect(gateway_.port());
    client.send("GET /x?key=canary HTTP/1.1\r\nHost: a.test\r\nAuthorization: canary\r\n\r\n");
    EXPECT_EQ(readResponse(client).status, 503);
  }

  GatewayProcess gateway_{{.backends = {{.port = freePort()}}, .settings = "drainTimeout: 1s\n"}};
};

TEST_F(LookedAtGateway, ShowsAFaultToThoseWhoLook) {
  ChildProcess curl({"curl", "-sS", "-N", page()});
  ASSERT_TRUE(curl.waitForLine("\"errors\":{\"rows\":[],\"total\":0}"));
  fail();
  const auto line = curl.waitForLine("\"fault\":\"Backend\",\"type\":\"connection_refused\",\"status\":503");
  ASSERT_TRUE(line);
  EXPECT_THAT(*line, HasSubstr("data: {"));
  EXPECT_TRUE(curl.waitForLine(R"("severity":"error","object":"Backend test/origin")"));
  EXPECT_THAT(*line, HasSubstr(R"("gateway":"test/egress","listener":"http")"));
  EXPECT_THAT(*line, HasSubstr(R"("route":"test/all","kind":"HTTPRoute")"));
  EXPECT_THAT(*line, Not(HasSubstr("canary")));
  const std::string rows = gateway_.adminGet("/page/rows?section=routes&search=ALL");
  EXPECT_THAT(rows, HasSubstr(R"("route":"test/all")"));
  EXPECT_THAT(rows, HasSubstr(R"("total":1})"));
  // The stream ends with the process, and curl has the end of the body.
  gateway_.process().signal(SIGTERM);
  EXPECT_EQ(curl.wait(), 0);
  EXPECT_EQ(gateway_.process().wait(), 0);
}

TEST_F(LookedAtGateway, RefusesPagesOfOtherNames) {
  BlockingSocket client = BlockingSocket::connect(gateway_.adminPort());
  client.send("GET /page/data HTTP/1.1\r\nHost: evil.test\r\n\r\n");
  EXPECT_EQ(readResponse(client).status, 403);
}

TEST_F(LookedAtGateway, IsPrintedOnceByTopWithoutATerminal) {
  fail();
  const ProgramOutcome top = sluice({"top", "--admin", admin()});
  EXPECT_EQ(top.exitCode, 0) << top.errors;
  EXPECT_THAT(top.output, HasSubstr("What is wrong"));
  EXPECT_THAT(top.output, HasSubstr("Backend test/origin"));
  EXPECT_THAT(top.output, HasSubstr("Recent errors (1)"));
  EXPECT_THAT(top.output, HasSubstr("requests/s "));
  EXPECT_THAT(top.output, Not(HasSubstr("\x1b")));
}

TEST(TopCommand, SaysThatNoGatewayAnswers) {
  const ProgramOutcome top = sluice({"top", "--admin", "127.0.0.1:" + std::to_string(freePort())});
  EXPECT_EQ(top.exitCode, 1);
  EXPECT_THAT(top.errors, HasSubstr("--admin"));
}

/// A program on a terminal of its own.
class OnTerminal {
 public:
  explicit OnTerminal(const std::vector<std::string>& arguments) {
    winsize size{};
    size.ws_row = 30;
    size.ws_col = 100;
    std::vector<char*> argv;
    for (const std::string& each : arguments) argv.push_back(const_cast<char*>(each.c_str()));
    argv.push_back(nullptr);
    pid_ = ::forkpty(&fd_, nullptr, nullptr, &size);
    if (pid_ != 0) return;
    ::execv(argv[0], argv.data());
    ::_exit(127);
  }
  OnTerminal(const OnTerminal&) = delete;
  OnTerminal& operator=(const OnTerminal&) = delete;
  ~OnTerminal() {
    if (pid_ > 0) ::kill(pid_, SIGKILL);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
    if (fd_ >= 0) ::close(fd_);
  }

  void type(char key) const { ASSERT_EQ(::write(fd_, &key, 1), 1); }
  /// Waits until the program has written that.
  bool shows(const std::string& text) {
    return eventually([&] {
      read();
      return shown_.find(text) != std::string::npos;
    });
  }
  /// Returns the exit code; -1 if the program does not end.
  int ends() {
    int status = 0;
    const bool ended = eventually([&] {
      read();
      return ::waitpid(pid_, &status, WNOHANG) == pid_;
    });
    read();
    if (!ended) return -1;
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  const std::string& shown() const { return shown_; }

 private:
  void read() {
    pollfd readable{fd_, POLLIN, 0};
    char bytes[4096];
    while (::poll(&readable, 1, 0) == 1 && (readable.revents & POLLIN) != 0) {
      const ssize_t count = ::read(fd_, bytes, sizeof bytes);
      if (count <= 0) return;
      shown_.append(bytes, static_cast<std::size_t>(count));
    }
  }

  pid_t pid_ = -1;
  int fd_ = -1;
  std::string shown_;
};

TEST_F(LookedAtGateway, IsDrawnByTopUntilQ) {
  OnTerminal top({programPath("sluice"), "top", "--admin", admin(), "--interval", "100ms"});
  ASSERT_TRUE(top.shows("Gateways and listeners"));
  EXPECT_THAT(top.shown(), HasSubstr("\x1b[?1049h")) << "it has a screen of its own";
  fail();
  EXPECT_TRUE(top.shows("connection_refused")) << "it is drawn again";
  top.type('q');
  EXPECT_EQ(top.ends(), 0);
  EXPECT_TRUE(top.shown().ends_with("\x1b[?1049l")) << "the terminal is as it was";
}

}  // namespace
}  // namespace sluice::test
