// Runs `sluice run --listen --to` against real origins.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "test/integration/support/sluice_command.h"
#include "test/support/test_pki.h"

namespace sluice::test {
namespace {

using testing::HasSubstr;

std::string localAt(std::uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

/// A gateway without files that listens at ports of its own.
class ForwardingGateway {
 public:
  explicit ForwardingGateway(const std::vector<std::string>& flags, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> argv = {programPath("sluice"), "run",      "--admin",
                                     localAt(admin_),       "--health", localAt(freePort())};
    argv.insert(argv.end(), flags.begin(), flags.end());
    process_ = std::make_unique<ChildProcess>(argv, environment);
    if (!process_->waitForLine("\"serving\"")) ADD_FAILURE() << "it does not serve:\n" << process_->errors();
  }
  ~ForwardingGateway() {
    process_->signal(SIGTERM);
    EXPECT_EQ(process_->wait(), 0) << process_->errors();
  }

  std::string command(const std::string& name) const { return sluice({name, "--admin", localAt(admin_)}).output; }
  ChildProcess& process() { return *process_; }

 private:
  std::uint16_t admin_ = freePort();
  std::unique_ptr<ChildProcess> process_;
};

std::string fetched(std::uint16_t port, const std::string& target = "/") {
  const ProgramOutcome got = run({"curl", "-sS", "--max-time", "20", "http://" + localAt(port) + target});
  EXPECT_EQ(got.exitCode, 0) << got.errors;
  return got.output;
}

/// nginx answers with the Host that it got, its port and the request's target.
class NginxOrigin {
 public:
  NginxOrigin() {
    const std::string configuration = folder_.write(
        "nginx.conf",
        "daemon off;\nmaster_process off;\npid nginx.pid;\nevents {}\nhttp {\n  access_log off;\n  "
        "client_body_temp_path "
        "body;\n  proxy_temp_path proxy;\n  fastcgi_temp_path fastcgi;\n  uwsgi_temp_path uwsgi;\n  scgi_temp_path "
        "scgi;\n  server {\n    listen " +
            localAt(port_) + ";\n    location / { return 200 \"$http_host $server_port $request_uri\"; }\n  }\n}\n");
    process_ = std::make_unique<ChildProcess>(
        std::vector<std::string>{"nginx", "-p", folder_.path(), "-c", configuration, "-e", "stderr"});
    EXPECT_TRUE(waitForPort(port_)) << process_->errors();
  }
  std::uint16_t port() const { return port_; }

 private:
  TempDir folder_;
  std::uint16_t port_ = freePort();
  std::unique_ptr<ChildProcess> process_;
};

TEST(Forwarding, GoesToTheOriginByItsOwnName) {
  const NginxOrigin origin;
  const std::uint16_t first = freePort();
  const std::uint16_t second = freePort();
  const ForwardingGateway gateway(
      {"--listen", localAt(first), "--listen", localAt(second), "--to", "http://" + localAt(origin.port())});
  const std::string port = std::to_string(origin.port());
  EXPECT_EQ(fetched(first, "/v1/models?x=y"), localAt(origin.port()) + " " + port + " /v1/models?x=y");
  EXPECT_EQ(fetched(second, "/"), localAt(origin.port()) + " " + port + " /");
}

TEST(Forwarding, SharesTheRequestsAmongAllOrigins) {
  const NginxOrigin first;
  const NginxOrigin second;
  const std::uint16_t port = freePort();
  const ForwardingGateway gateway({"--listen", localAt(port), "--to", "http://" + localAt(first.port()), "--to",
                                   "http://" + localAt(second.port())});
  std::set<std::string> hosts;
  for (int i = 0; i < 100 && hosts.size() < 2; ++i) {
    const std::string answer = fetched(port);
    hosts.insert(answer.substr(0, answer.find(' ')));
  }
  EXPECT_EQ(hosts, (std::set<std::string>{localAt(first.port()), localAt(second.port())}));
}

TEST(Forwarding, VerifiesTheOriginByTheSystemsAuthorities) {
  const CertifiedKey authority = makeAuthority();
  CertificateSpec spec;
  spec.ipAddresses = {"127.0.0.1"};
  spec.extendedKeyUsage = "serverAuth";
  const EchoOrigin origin(issue(authority, spec));
  const TempDir folder;
  const std::string bundle = folder.write("authority.pem", authority.certificate);
  const std::string to = "https://" + localAt(origin.port());
  const std::uint16_t port = freePort();
  {
    const ForwardingGateway trusting({"--listen", localAt(port), "--to", to}, {"SSL_CERT_FILE=" + bundle});
    EXPECT_EQ(echoed(fetched(port, "/x"), "target"), "/x");
    EXPECT_EQ(echoed(fetched(port), "authority"), localAt(origin.port()));
  }
  const ForwardingGateway strict({"--listen", localAt(port), "--to", to});
  EXPECT_THAT(fetched(port), HasSubstr("tls_certificate_error"));
}

TEST(Forwarding, SpeaksHttp2WithoutTls) {
  const TempDir folder;
  folder.write("index.html", "from nghttpd");
  const std::uint16_t port = freePort();
  const ChildProcess origin({"nghttpd", "-a", "127.0.0.1", "-d", folder.path(), "--no-tls", std::to_string(port)});
  ASSERT_TRUE(waitForPort(port)) << origin.errors();
  const std::uint16_t own = freePort();
  const ForwardingGateway gateway({"--listen", localAt(own), "--to", "h2c://" + localAt(port)});
  EXPECT_EQ(fetched(own, "/index.html"), "from nghttpd");
}

TEST(Forwarding, HasTheAdminPagesAndCommandsOfAnyGateway) {
  const NginxOrigin origin;
  ForwardingGateway gateway({"--listen", localAt(freePort()), "--to", "http://" + localAt(origin.port())});
  EXPECT_THAT(gateway.command("status"), HasSubstr("InSync since "));
  EXPECT_THAT(gateway.command("status"), HasSubstr("everything"));
  gateway.process().signal(SIGHUP);
  EXPECT_TRUE(gateway.process().waitForLine("configuration is unchanged")) << gateway.process().errors();
}

/// Starts a gateway with the configuration that another one has printed, with a host of its own for the name.
TEST(Forwarding, IsTheSameInAFile) {
  const CertifiedKey authority = makeAuthority();
  const EchoOrigin origin(issueServer(authority, "api.example.com"));
  const std::uint16_t port = freePort();
  const ProgramOutcome printed = sluice({"run", "--print-config", "--listen", localAt(port), "--to",
                                         "https://api.example.com:" + std::to_string(origin.port())});
  EXPECT_EQ(printed.exitCode, 0) << printed.errors;
  const TempDir folder;
  const std::string file = folder.write("gateway.yaml", printed.output);
  const ProgramOutcome valid = sluice({"validate", "--config", file});
  EXPECT_EQ(valid.exitCode, 0) << valid.output;
  std::string text = printed.output;
  const std::string controller = "  controllerName: sluice.dev/egress-gateway\n";
  text.insert(
      text.find(controller) + controller.size(),
      "  parametersRef: {group: \"\", kind: ConfigMap, namespace: default, name: settings}\n---\napiVersion: v1\n"
      "kind: ConfigMap\nmetadata: {namespace: default, name: settings}\ndata:\n  settings.yaml: |\n"
      "    dns: {hosts: {api.example.com: [127.0.0.1]}}\n    addressGuard: {allow: [127.0.0.1/32]}\n");
  const std::string bundle = folder.write("authority.pem", authority.certificate);
  const ForwardingGateway gateway({"--config", folder.write("gateway.yaml", text)}, {"SSL_CERT_FILE=" + bundle});
  const std::string answer = fetched(port, "/v1/models");
  EXPECT_EQ(echoed(answer, "target"), "/v1/models");
  EXPECT_EQ(echoed(answer, "sni"), "api.example.com");
  EXPECT_EQ(echoed(answer, "authority"), "api.example.com:" + std::to_string(origin.port()));
}

TEST(Forwarding, RefusesWhatItCannotDoAsAWrongCommandLine) {
  const ProgramOutcome path = sluice({"run", "--listen", ":8080", "--to", "https://api.example.com/v1"});
  EXPECT_EQ(path.exitCode, 2);
  EXPECT_EQ(path.output, "");
  EXPECT_THAT(path.errors, HasSubstr("--to https://api.example.com/v1: must end after the host or its port"));
  EXPECT_EQ(sluice({"run", "--config", "a", "--listen", ":8080", "--to", "http://a.test"}).exitCode, 2);
}

}  // namespace
}  // namespace sluice::test
